// `worker-runtime.cjs`: the worker runtime in one file, for a host that has Node but no Drover.

import type { WorkerRuntimeRequest } from '../core/settings/worker-runtime.ts';
import { parseArgs } from 'node:util';
import { Refusal } from '../core/failure.ts';
import { parseListenAddress } from '../core/settings/listen-address.ts';
import { parseDuration, parseSize } from '../core/settings/setting-values.ts';
import { droverVersion } from '../protocol/version.ts';
import { runWorkerRuntime } from '../remote/worker-runtime.ts';

const usage = `Usage: AGENT_TOKEN=<secret> node worker-runtime.cjs [options]

  --listen <address>     host:port to listen on (default: AGENT_ADDR, else PORT, else :8080)
  --workspace <dir>      where jobs run (default: /workspace)
  --max-upload <size>    largest upload, compressed and unpacked each (default: 500MB)
  --lifetime <duration>  end by itself after this time, as "90m"
  --json                 print where it listens as JSON
  --version, --help
`;

const exitCodes = { failed: 1, refused: 3, wrongUse: 64 } as const;

class WrongUse extends Error {}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        listen: { type: 'string' },
        workspace: { type: 'string' },
        'max-upload': { type: 'string' },
        lifetime: { type: 'string' },
        json: { type: 'boolean', default: false },
        version: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new WrongUse(error instanceof Error ? error.message : String(error));
  }
}

type Values = ReturnType<typeof readArguments>;

function requestOf(values: Values): WorkerRuntimeRequest {
  const { listen, lifetime, workspace = null, 'max-upload': maxUpload } = values;
  const address = listen === undefined ? null : parseListenAddress(listen);
  if (address?.ok === false) throw new WrongUse(`--listen: ${address.error}`);
  const lifetimeMs = lifetime === undefined ? null : parseDuration(lifetime);
  if (lifetime !== undefined && lifetimeMs === null) {
    throw new WrongUse('--lifetime must be a duration, as "90s" or "10m"');
  }
  const uploadBytes = maxUpload === undefined ? null : parseSize(maxUpload);
  if (maxUpload !== undefined && uploadBytes === null) {
    throw new WrongUse('--max-upload must be a size, as "200MB" or a number of bytes');
  }
  return {
    env: process.env,
    listen: address?.value ?? null,
    workspace,
    uploadBytes,
    lifetimeMs,
    onListening: (note) => {
      const text = `The worker runtime listens on ${note.url}; its workspace is ${note.workspace}.`;
      process.stdout.write(`${values.json ? JSON.stringify(note) : text}\n`);
    },
    warn: (sentence) => process.stderr.write(`worker-runtime: ${sentence}\n`),
  };
}

async function main(args: readonly string[]): Promise<number> {
  try {
    const values = readArguments(args);
    if (values.version || values.help) {
      process.stdout.write(values.version ? `${droverVersion}\n` : usage);
      return 0;
    }
    await runWorkerRuntime(requestOf(values));
    return 0;
  } catch (error) {
    process.stderr.write(
      `worker-runtime: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    if (error instanceof WrongUse) return exitCodes.wrongUse;
    return error instanceof Refusal ? exitCodes.refused : exitCodes.failed;
  }
}

void main(process.argv.slice(2)).then((code) => process.exit(code));
