# The one image behind every function of template.yaml; each function's ImageConfig names its handler.
ARG PYTHON_VERSION=3.13
FROM public.ecr.aws/lambda/python:${PYTHON_VERSION}

# Models come with their packages and nothing is fetched at run time; only /tmp can be written.
ENV HF_HUB_OFFLINE=1 \
    HOME=/tmp \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

COPY requirements.lock ./
RUN pip install --no-cache-dir --no-compile --require-hashes -r requirements.lock --target "${LAMBDA_TASK_ROOT}"

COPY shared/varve ${LAMBDA_TASK_ROOT}/varve
COPY functions ${LAMBDA_TASK_ROOT}/functions

# Without bytecode every cold start compiles every module anew, for /var/task is read-only: 8 s of the
# 10 s that Lambda allows. Unchecked, because nobody edits an image's sources and their times may change
# on the way into Lambda.
RUN python3 -m compileall -q -f -j 0 --invalidation-mode unchecked-hash "${LAMBDA_TASK_ROOT}"

# What does not import must not leave the build; nor an embedder without its model, which is read on first use.
RUN python3 -c "import functions.ingest.app" \
 && python3 -c "import functions.extract.app" \
 && python3 -c "import functions.write.app" \
 && python3 -c "import functions.summarize.app" \
 && python3 -c "import functions.cleanup.app" \
 && python3 -c "import functions.search.app" \
 && python3 -c "import functions.mcp.app" \
 && python3 -c "import functions.forget.app" \
 && python3 -c "import varve.adapters.lance_cache.records" \
 && python3 -c "import varve.adapters.graph.parquet, varve.adapters.graph.table, varve.adapters.graph.query_process" \
 && python3 -c "import openai, varve.adapters.models.openai_llm" \
 && python3 -c "from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder; WordLlamaEmbedder().embed(['Lisbon'])"
