# A worker for [remote] provisioner = "docker", "unikraft" or "hook". Build it in Drover's folder:
#   npm run build && docker build -t drover-worker -f docs/drover-worker.Dockerfile .
# Add the programs that your agent, its tools and your project need.
FROM node:24-bookworm-slim
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git tini \
  && rm -rf /var/lib/apt/lists/* \
  && npm install --global @anthropic-ai/claude-code \
  && mkdir /work \
  && chown node:node /work
COPY dist/worker-runtime.cjs /opt/worker-runtime.cjs
USER node
WORKDIR /work
EXPOSE 8080
# tini reaps the processes that commands leave behind.
ENTRYPOINT ["tini", "--", "node", "/opt/worker-runtime.cjs", "--workspace", "/work/workspace"]
