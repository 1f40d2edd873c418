# A stand-in for public.ecr.aws/lambda/python, so that the project's Dockerfile builds unmodified where
# that image cannot be pulled: Debian, its Python, the runtime client and the entry point. Not Amazon
# Linux: another glibc, no dnf, no Runtime Interface Emulator.
FROM scratch
ADD rootfs.tar /
COPY lambda-entrypoint.sh /lambda-entrypoint.sh

ENV LAMBDA_TASK_ROOT=/var/task \
    LAMBDA_RUNTIME_DIR=/var/runtime \
    LANG=C.UTF-8 \
    TZ=:UTC \
    PATH=/var/lang/bin:/usr/local/bin:/usr/bin:/bin

# The real base has its Python in /var/lang and lets pip write there.
ARG PYTHON_VERSION
RUN mkdir -p /var/lang/bin /var/task /var/runtime \
 && ln -s /usr/bin/python3 /var/lang/bin/python \
 && rm -f /usr/lib/python3*/EXTERNALLY-MANAGED \
 && chmod 755 /lambda-entrypoint.sh \
 && python3 -c "import sys; v = '%d.%d' % sys.version_info[:2]; sys.exit(v != '${PYTHON_VERSION}' and 'the stand-in has Python ' + v)"
RUN pip install --no-cache-dir --target /var/runtime awslambdaric

WORKDIR /var/task
ENTRYPOINT ["/lambda-entrypoint.sh"]
