# Public names: type checkers read them here, `__init__.py` imports one on first use.
from cdspp.analysis.compare import compare as compare
from cdspp.analysis.inspection import inspect as inspect
from cdspp.core.labels import keep_labels as keep_labels
from cdspp.datasets.table_encoder import TableEncoder as TableEncoder
from cdspp.datasets.tables import read_table as read_table
from cdspp.methods import available as available
from cdspp.methods import make as make
from cdspp.methods.base import SourceDomain as SourceDomain
from cdspp.methods.cdls.cdls import CDLS as CDLS
from cdspp.methods.cdls.cdls import CDLSSup as CDLSSup
from cdspp.methods.cdspp.bridged import CDSPPBridge as CDSPPBridge
from cdspp.methods.cdspp.cdspp import CDSPP as CDSPP
from cdspp.methods.cdspp.cdspp import CDSPPPCA as CDSPPPCA
from cdspp.methods.cdspp.cdspp import CDSPPSup as CDSPPSup
from cdspp.methods.cdspp.cdspp import TargetOnly as TargetOnly
from cdspp.methods.classifiers import Pooled as Pooled
from cdspp.methods.classifiers import PooledRandomForest as PooledRandomForest
from cdspp.methods.classifiers import Stacked as Stacked
from cdspp.methods.classifiers import TargetExtraTrees as TargetExtraTrees
from cdspp.methods.classifiers import TargetLDA as TargetLDA
from cdspp.methods.classifiers import (
    TargetLogisticRegression as TargetLogisticRegression,
)
from cdspp.methods.classifiers import TargetRandomForest as TargetRandomForest
from cdspp.methods.dama import DAMA as DAMA
from cdspp.methods.dama import DAMAPlus as DAMAPlus
from cdspp.methods.dama import DAMASup as DAMASup
from cdspp.methods.ddacl.ddacl import DDACL as DDACL
from cdspp.methods.folds import LabelledKFold as LabelledKFold
from cdspp.methods.hfa.hfa import HFA as HFA
from cdspp.methods.hfa.shfa import SHFA as SHFA
from cdspp.methods.joint_machine import EasyAdapt as EasyAdapt
from cdspp.methods.joint_machine import EasyAdaptPlus as EasyAdaptPlus
from cdspp.methods.joint_machine import PairedMap as PairedMap
from cdspp.methods.joint_machine import PairedMapPlus as PairedMapPlus
from cdspp.methods.joint_machine import Procrustes as Procrustes
from cdspp.methods.joint_machine import SharedColumns as SharedColumns
from cdspp.methods.joint_machine import (
    SharedColumnsPlus as SharedColumnsPlus,
)
from cdspp.methods.labels import labelled_accuracy as labelled_accuracy
from cdspp.methods.model_file import load_model as load_model
from cdspp.methods.model_file import save_model as save_model
from cdspp.methods.networks.networks import JMEA as JMEA
from cdspp.methods.networks.networks import NNT as NNT
from cdspp.methods.networks.networks import SSAN as SSAN
from cdspp.methods.networks.networks import STN as STN
from cdspp.methods.pa import PA as PA
from cdspp.methods.pca_coral import PCACoral as PCACoral
from cdspp.methods.source_vote import SourceVote as SourceVote
from cdspp.methods.svm_t import SVMT as SVMT
from cdspp.methods.tit import TIT as TIT
from cdspp.methods.transport.kpg_rl import KPGRL as KPGRL
from cdspp.methods.transport.kpg_rl import KPGRLGW as KPGRLGW
from cdspp.methods.transport.kpg_rl import KPGRLKP as KPGRLKP
from cdspp.methods.transport.plans import COOT as COOT
from cdspp.methods.transport.plans import UCOOT as UCOOT
from cdspp.methods.transport.plans import (
    SemiRelaxedFGW as SemiRelaxedFGW,
)
from cdspp.methods.vote import Vote as Vote
from cdspp.report.results import load_results as load_results

__version__: str
