# Features: from files, or from another view, to one matrix a domain and view.
# A view that counts visual words first learns its words from one domain.


rule codebook:
    input:
        unpack(codebook_input),
    output:
        "results/codebooks/{dataset}/{view}.npz",
    log:
        "logs/codebooks/{dataset}/{view}.log",
    benchmark:
        "benchmarks/codebooks/{dataset}/{view}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        extractor=extractor_name,
        options=codebook_options,
        numeric_threads=numeric_threads,
        code=extractor_digest,
    script:
        "../scripts/codebook.py"


rule features:
    input:
        unpack(feature_input),
    output:
        "results/features/{dataset}/{domain}.{view}.npz",
    log:
        "logs/features/{dataset}/{domain}.{view}.log",
    benchmark:
        "benchmarks/features/{dataset}/{domain}.{view}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=240,
    params:
        extractor=extractor_name,
        options=extractor_options,
        storage=published_storage,
        numeric_threads=numeric_threads,
        code=extractor_digest,
    script:
        "../scripts/features.py"
