"""The pages of the documentation: found, run, and made of what they speak of."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import shlex
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.study_files import load_own

import cdspp
from cdspp.cli.main import main
from cdspp.core.wording import listed as listed_names
from cdspp.methods import available, method_class
from cdspp.methods.bridge import PAIRS, SHARED
from cdspp.methods.descriptions import read_descriptions
from cdspp.paper.protocol import read_protocol
from cdspp.study.config import merge_presets, schema_faults

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text(encoding="utf-8")
SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"
PAGES = sorted(
    path for path in DOCS.rglob("*.md") if not {"generated", "_build"} & {*path.parts}
)


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.S | re.M)


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix()


@pytest.fixture
def extension(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(DOCS / "extensions"))
    return importlib.import_module


def listed(extension: Any) -> list[str]:
    """Return the entries of all tables of contents."""
    pages = extension("markdown_pages")
    text = pages.sphinx_text("index", (DOCS / "index.md").read_text())
    found = sum(pages.contents(text).values(), [])
    return [re.sub(r"^/|\.\w+$", "", name) for name in found]


def test_every_page_is_in_the_table_of_contents_once(extension: Any) -> None:
    written = [name for name in listed(extension) if not name.startswith("generated/")]
    assert sorted(written) == sorted({*map(name_of, PAGES)} - {"index"})


def test_every_generated_page_is_made_and_listed(extension: Any) -> None:
    modules = ("method_pages", "module_pages", "config_page", "command_pages")
    modules += ("deviation_pages", "gallery_pages")
    made = {name for module in modules for name, _ in extension(module).pages(ROOT)}
    pages = {f"generated/{Path(n).with_suffix('')}" for n in made if n.endswith("rst")}
    copies = {*extension("markdown_pages").COPIES.values()}
    pages |= {name.removesuffix(".md") for name in copies}
    asked = {name for name in listed(extension) if name.startswith("generated/")}
    under = {f"generated/methods/{name}" for name in available()}
    shown = extension("gallery_pages").examples(ROOT)
    under |= {f"generated/gallery/{example.name}" for example in shown}
    assert pages == asked | under


@pytest.mark.filterwarnings("ignore::cdspp.core.errors.CollapseWarning")
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_python_of_a_page_runs(page: Path) -> None:
    if code := "\n".join(blocks(page, "python")):
        exec(compile(code, str(page), "exec"), {})


def test_the_page_on_scaling_shows_a_collapse_and_its_cure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = "\n".join(blocks(DOCS / "guide/methods.md", "python"))
    with pytest.warns(match="nearly parallel"):
        exec(compile(code, "methods.md", "exec"), {})
    before, after = capsys.readouterr().out.splitlines()
    assert before == "parallel rows"
    assert after.startswith("True")
    assert float(after.split()[1]) > 0.9


def study_examples() -> list[Any]:
    """Return the blocks of study files of the guide, as they are read."""
    pages = (DOCS / f"guide/{name}.md" for name in ("data", "experiments"))
    return [yaml.safe_load(block) for page in pages for block in blocks(page, "yaml")]


def test_the_studies_of_the_guide_fit_the_schema() -> None:
    for own in study_examples():
        part = {"study": "part", "preset": "embedded"} if "study" not in own else {}
        assert not schema_faults(merge_presets(part | own, ROOT)[0], SCHEMA)


def test_the_studies_of_reference_and_grid_do_what_the_guide_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They need no data of one's own, so that `cdspp plan` tries them as they stand."""
    known = {own["study"]: own for own in study_examples() if "study" in own}
    monkeypatch.chdir(tmp_path)
    for name in ("of-dama", "tuned"):
        Path(f"{name}.yaml").write_text(yaml.safe_dump(known[name]))
        assert main(["plan", f"{name}.yaml"]) == 0
        assert ": not computed yet: " in capsys.readouterr().out
    study, selected = load_own(known["of-dama"]), load_own(known["tuned"])
    assert (study.reference, study.baseline) == ("dama", "target-only")
    assert [*selected.settings["selected"].methods] == ["svm-t", "cdspp"]
    assert (selected.settings["selected"].trials, selected.trials) == (3, 5)


def test_links_between_pages_lead_to_pages() -> None:
    for page in [*PAGES, ROOT / "README.md"]:
        for target in re.findall(r"\]\(([\w./-]+\.(?:md|png))[)#]", page.read_text()):
            assert (page.parent / target).is_file(), f"{page}: {target}"


def test_every_key_of_a_study_file_is_described(extension: Any) -> None:
    [(_, text)] = extension("config_page").pages(ROOT)
    keys = re.findall(r"\.\. confval:: (\S+)\n((?:   .*\n)+)\n   (.*)", text)
    assert len(keys) == text.count(".. confval::")
    assert len(keys) > 60
    for key, options, said in keys:
        assert re.search(r":type: \S", options), key
        assert said.strip().endswith("."), f"{key} has no description: {said!r}"


def test_the_overview_tells_what_each_method_needs(extension: Any) -> None:
    pages = dict(extension("method_pages").pages(ROOT))
    table = pages["methods/index.rst"]
    for name in available():
        found = method_class(name)
        [row] = re.findall(rf"``{name}``\n((?:     - .*\n)+)", table)
        cells = [cell.strip(" -") for cell in row.splitlines()]
        assert cells[0] == ("both" if found.uses_source else "target"), name
        use = "needed" if found.needs_bridge else "used"
        for cell, part in zip(cells[1:3], (SHARED, PAIRS), strict=True):
            assert cell == (use if part in found.bridges else "–"), name
        assert (cells[3] == "torch", cells[3] == "POT") == (
            found.needs_torch,
            found.needs_pot,
        ), name
        facts = [not found.supervised, not found.transductive]
        assert [cell == "yes" for cell in cells[4:6]] == facts, name
        assert re.fullmatch(r"[\d.]+", cells[-1]), name
        assert (
            f".. autoclass:: cdspp.{found.__name__}\n" in pages[f"methods/{name}.rst"]
        )


def test_the_page_of_differences_has_a_line_for_each(extension: Any) -> None:
    [(_, text)] = extension("deviation_pages").pages(ROOT)
    entries = yaml.safe_load((ROOT / "resources/paper/deviations.yaml").read_text())
    row = r"^   \* - (.*)\n     - (.*)\n     - (.*)\n     - (.*)\n     - (.*)$"
    header, *lines = re.findall(row, text, re.M)
    found = [line for line in lines if line != header]
    expected = []
    for entry in entries:
        side = "text" if entry["default"] == "paper" else entry["default"]
        switch = f"(``{entry['id']}``)" if entry["options"] else "–"
        expected.append((entry["topic"], side, switch))
    ends = [(topic, side, cell.split()[-1]) for topic, _, _, side, cell in found]
    assert sorted(ends) == sorted(expected)
    for name in {name for entry in entries for name in entry["options"] or ()}:
        assert f"``{name}: " in text, name


def test_the_page_has_each_difference_of_paper_and_study_with_its_reason(
    extension: Any,
) -> None:
    [(_, text)] = extension("deviation_pages").pages(ROOT)
    differences = read_protocol(ROOT / "resources/paper").differences
    assert differences
    for entry in differences:
        topic, reason = (re.escape(entry[key]) for key in ("topic", "reason"))
        line = rf"   \* - {topic}\n     - .*\n     - .*\n     - {reason}\n"
        assert re.search(line, text), entry["topic"]


def test_the_counts_of_differences_are_those_of_the_list(extension: Any) -> None:
    summary = extension("deviation_pages").summary(ROOT)
    total, *parts = map(int, re.findall(r"\d+", summary))
    entries = yaml.safe_load((ROOT / "resources/paper/deviations.yaml").read_text())
    sides = [entry["default"] for entry in entries]
    assert total == len(sides) == sum(parts)
    assert parts == [sides.count(side) for side in ("code", "paper", "neither")]
    assert summary in " ".join((DOCS / "guide/paper-table.md").read_text().split())
    [said] = re.findall(r"Of \[(\d+\s+differences\].*?)\.\n", README, re.S)
    assert [int(n) for n in re.findall(r"\d+", said)] == [total, *parts]


def test_the_counts_of_methods_are_those_of_their_descriptions() -> None:
    known = read_descriptions().values()
    alone = sum(not method.uses_source for method in known)
    networks = sum(method.needs_torch for method in known)
    text = (DOCS / "other-software.md").read_text()
    assert f"| {len(known)}; {alone} of them see no source |" in text
    assert f"torch for {networks} networks only" in text
    sparse = [method.display_name for method in known if method.accepts_sparse]
    page = " ".join((DOCS / "guide/methods.md").read_text().split())
    assert f"{listed_names(sparse)} accept sparse rows" in page


def test_every_parameter_of_a_method_is_documented_on_its_page(extension: Any) -> None:
    inherited = extension("inherited_parameters")
    for name in available():
        found = method_class(name)
        text = inherited.written_out(found, inspect.cleandoc(found.__doc__ or ""))
        match = inherited.SECTION.search(text)
        section = match[1] if match else ""
        assert not re.search(r"As in `|Likewise", section), name
        entries = inherited.parameters(found)
        assert entries.keys() == inspect.signature(found).parameters.keys(), name
        assert all(f"{line}\n" in section for line, _ in entries.values()), name


def test_no_public_signature_hides_a_value_behind_a_name() -> None:
    """Sphinx and editors show defaults as the source has them."""
    for name in set(cdspp.__all__) - {"__version__"}:
        found = getattr(cdspp, name)
        function = found.__init__ if isinstance(found, type) else found
        try:
            [tree] = ast.parse(textwrap.dedent(inspect.getsource(function))).body
        except (OSError, TypeError):  # made by `dataclass`, from values, or inherited
            continue
        assert isinstance(tree, ast.FunctionDef)
        defaults = [*tree.args.defaults, *filter(None, tree.args.kw_defaults)]
        shown = [ast.unparse(each) for each in defaults]
        assert not [
            each for each in shown if re.fullmatch(r"[A-Za-z_.]*[A-Z]{3}\w*", each)
        ]


def test_the_page_of_commands_has_them_all(extension: Any) -> None:
    [(_, text)] = extension("command_pages").pages(ROOT)
    for command in ("fit", "predict", "compare", "plan", "summary"):
        start = rf"\ncdspp {command}\n-+\n\n[A-Z].*\.\n\n\.\. code-block:: shell\n\n"
        assert re.search(rf"{start}   cdspp {command}\b", text), command
    assert "--target FILE" in text


def test_the_exit_codes_are_those_of_the_commands(
    extension: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = extension("command_pages")
    [(_, text)] = module.pages(ROOT)
    table = text.partition("\nExit codes\n")[2].partition("\nFiles\n")[0]
    codes = re.findall(r"\* - (\w+)\n     - (.*)\n     - (.*)", table)
    assert {int(code) for code, *_ in codes if code.isdigit()} == {*module.EXIT_CODES}
    strict = [line for line in codes if "--strict" in line[1]]
    named = {name for *_, cell in strict for name in re.findall(r"`cdspp-(\S+)`", cell)}
    commands = module.command_parsers(module.parser())
    assert named == {n for n, c in commands.items() if "--strict" in c.format_usage()}
    monkeypatch.chdir(tmp_path)
    assert [main(["methods"]), main(["summary", "nowhere"])] == [0, 2]


def test_every_example_of_a_command_is_understood_by_its_parser(extension: Any) -> None:
    module = extension("command_pages")
    parser = module.parser()
    for name, found in module.command_parsers(parser).items():
        for line in module.examples(found).replace("\\\n", " ").splitlines():
            words = shlex.split(line.partition(" -- ")[0].partition(" > ")[0])
            assert words[:2] == ["cdspp", name]
            assert parser.parse_args(words[1:])


def test_the_page_of_commands_has_each_option_with_its_help(extension: Any) -> None:
    [(_, text)] = extension("command_pages").pages(ROOT)
    options = re.findall(r"^\.\. option:: (.*)\n\n?(   .*)?", text, re.M)
    assert len(options) > 60
    bare = {name for name, said in options if name.startswith("-") and not said}
    assert not bare
    assert "`` " not in re.sub(r"``[^`]+``", "", text)


def test_the_page_of_cdspp_shows_its_idea_its_paper_and_how_close_it_is(
    extension: Any,
) -> None:
    pages = dict(extension("method_pages").pages(ROOT))
    page = pages["methods/cdspp.rst"]
    for part in (".. figure::", ".. math::", "10.1016/j.patcog.2021.108362"):
        assert part in page
    assert "the same label to 300 of 300 rows" in page


def test_a_formula_is_made_whole_or_not_at_all(extension: Any) -> None:
    pytest.importorskip("latex2mathml")
    nodes = pytest.importorskip("docutils.nodes")
    errors = pytest.importorskip("sphinx.errors")
    made = extension("mathml")
    formula = (
        r"\max_P \lVert x_i \rVert_2 + \bigl(a + b\bigr) \quad \text{s.t.} \quad c"
    )
    node = nodes.math_block("", formula)
    [norm, plus], [said] = made._clauses(made._mathml(node, "block"))
    assert "<munder><mo>max</mo>" in norm
    assert norm.count('<mo stretchy="false"') == 2
    assert all(name in plus for name in "ab")
    assert "s.t." in said
    assert "<mi>c</mi>" in said
    with pytest.raises(errors.ExtensionError, match="no MathML"):
        made._mathml(nodes.math_block("", r"\nosuchcommand x"), "block")


def test_every_method_has_a_formula_of_its_own_or_of_what_it_builds_on(
    extension: Any,
) -> None:
    pages = dict(extension("method_pages").pages(ROOT))
    for name in available():
        own = ".. math::" in (method_class(name).__doc__ or "")
        assert own != (".. math::" in pages[f"methods/{name}.rst"]), name
