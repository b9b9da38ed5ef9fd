"""Evenflow's package metadata.

The folder pipelines/api is the package `evenflow`; the top-level folders are its subpackages.
"""

from pathlib import Path

from setuptools import setup

# `evenflow stream`. Without crc32c, kafka-python checks CRCs in Python, ten times slower
KAFKA = ["crc32c>=2.7", "kafka-python>=3.0,<4", "zstandard>=0.22"]
# The graphs on a cluster and the transforms of evenflow.beam, Kafka's among them
BEAM = ["apache-beam>=2.72,<3", *KAFKA]
# Repair and stereotypes: the networks of 8 bits that ship, and the word pieces that they read
MODELS = ["onnxruntime>=1.19", "tokenizers>=0.20"]
# Object stores (S3, GCS, Azure) with writes that only create
STORES = ["obstore>=0.12,<1"]
# sniffio: httpcore tries to import it at every lock, and a failing import is slow
LLM = ["httpx>=0.27", "jsonschema>=4.20", "sniffio>=1.3"]
# mkdocs-material: a site with search and checked links that needs no network to read;
# mkdocstrings-python: the API page, from docstrings in Google's style
DOCS = ["mkdocs-material>=9.6,<10", "mkdocstrings-python>=2,<3"]
WARC = ["warcio>=1.7"]
TOPS = ("pipelines", "transforms", "gates", "schemas", "wordlists", "prompts")
ROOMS = [room.parent for top in TOPS for room in sorted(Path(top).rglob("__init__.py"))]
PACKAGES = {
    ".".join(("evenflow", *room.parts)).replace("evenflow.pipelines.api", "evenflow"): (
        room.as_posix()
    )
    for room in ROOMS
}

setup(
    name="evenflow",
    version="0.1.0",
    description=(
        "A streaming data-quality gate for training data: measures, judges and commits text by"
        " representation"
    ),
    long_description=(Path(__file__).parent / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    # NOTICE says which file has which licence
    license_expression=(
        "Apache-2.0 AND CC-BY-4.0 AND CC-BY-SA-4.0 AND CC0-1.0 AND MIT AND OGL-UK-3.0"
    ),
    license_files=["LICENSE", "NOTICE"],
    python_requires=">=3.11",
    packages=list(PACKAGES),
    package_dir=PACKAGES,
    package_data={
        "": [
            *(f"*.{kind}" for kind in ("yaml", "json", "tsv", "npz", "j2")),
            "py.typed",
            "shipped/*",
            "data/*",
            "static/*",
        ]
    },
    entry_points={
        "console_scripts": ["evenflow=evenflow.pipelines.cli.app:main"],
    },
    install_requires=[
        "click>=8.5",  # with help of arguments, and what a wrong command may have meant
        "cronsim>=2.6",  # schedules of triggers
        "great-expectations>=1.24,<2",
        "inflect>=7",  # singular and plural of labels: a hundred rules and irregular nouns
        "jinja2>=3.1",
        "numpy>=2.0",
        "orjson>=3.9.15",  # earlier ones crash on records that are nested deeply
        "pandas>=2.2.2",
        "prometheus-client>=0.22.1",
        "py3langid>=0.4",  # languages that no word list has, by numpy alone and offline
        "pyarrow>=21",  # views in Parquet
        "pydantic>=2.12",  # fields that are left out while they are empty
        "pyyaml>=6",
        "rich>=13",
        "scipy>=1.13",
        "starlette>=1,<2",  # the live page: an ASGI application, and its server uvicorn
        "uvicorn>=0.30",
    ],
    extras_require={
        "kafka": KAFKA,  # before those that have it too: a message names the first
        "models": MODELS,
        "stores": STORES,
        "beam": BEAM,
        "llm": LLM,
        # evenflow.datatrove; its statistics read domains with tldextract
        "datatrove": ["datatrove>=0.3", "regex", "tldextract>=5"],
        # evenflow.juicer; data-juicer reads files with aiohttp and does not ask for it
        "data-juicer": ["py-data-juicer>=1.6", "aiohttp>=3"],
        "docs": DOCS,
        # Appends to tables of Iceberg; its catalog in SQLite needs sqlalchemy
        "iceberg": ["pyiceberg[sql-sqlite]>=0.10"],
        "nemo-curator": ["nemo-curator>=1.4"],
        # Inputs of .warc and .warc.gz, as crawls leave them
        "warc": WARC,
        # `evenflow lab`: training and benchmarks of language models
        "lab": [
            *MODELS,
            "gguf>=0.10",  # transformers reads GGUF files with it, for `make models`
            "onnx>=1.16",
            "onnxscript>=0.3",
            "peft>=0.15",  # LoRA, in the form that other tools read
            "safetensors>=0.5",  # checkpoints without pickles
            "scikit-learn>=1.4",
            "torch>=2.6",
            "transformers>=4.56",  # from which on weights have a dtype
            "typer>=0.19",  # the recipes of the models that ship
        ],
        "test": [
            *BEAM,
            *MODELS,
            *STORES,
            *LLM,
            *DOCS,
            *WARC,
            "axe-playwright-python>=0.1.7",  # axe-core's script, for pages in a real browser
            "build>=1.2",  # wheel and sdist, as a release makes them
            "hypothesis>=6.100",
            "playwright>=1.50",
            "psutil>=5.9",
            "pyright>=1.1.380",
            "pytest>=8",
            "pytest-cov>=6",
            "pytest-xdist>=3.6",
            "ruff>=0.6",
            "scikit-learn>=1.4",
            "types-PyYAML",
        ],
        "bench": [
            "ahocorasick_rs>=0.22",
            "datatrove>=0.3",
            "lm-eval>=0.4.9",  # the reference of the benchmarks of models
            "spacy>=3.7",
        ],
    },
    classifiers=[
        *(f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)),
        "Typing :: Typed",
    ],
)
