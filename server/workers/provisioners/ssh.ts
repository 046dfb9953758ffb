// Workers on a host that the user reaches by ssh: the runtime is copied there once, identified by
// its hash, runs on the host's loopback interface and is reached through a tunnel. Keys, users and
// jumps come from the user's ssh configuration.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { err, ok, type Result } from '../../core/failure.ts';
import { quoted } from '../../core/format.ts';
import { toSingleLine } from '../client/request.ts';
import type { HostKeys, InstanceSpec, Provisioner } from './port.ts';
import { programOutput, programEnd, type ProgramEnd } from './run-program.ts';
import { closeTunnel, openTunnel, type TunnelOptions } from './ssh-tunnel.ts';
import {
  isKeyRefusal,
  keepKey,
  keySentence,
  ownKeyArgs,
  refusedKey,
  type RunSsh,
  strictArgs,
} from './ssh-host-key.ts';

export interface SshOptions extends TunnelOptions {
  /** The runtime as one file. */
  readonly runtime: string;
  /** File with the host keys that the user accepted here. It need not exist. */
  readonly knownHosts: string;
}

/** Never prompts. */
const quietArgs: readonly string[] = [
  '-o',
  'BatchMode=yes',
  '-o',
  'ConnectTimeout=10',
  '-o',
  'ServerAliveInterval=10',
  '-o',
  'ServerAliveCountMax=3',
];
const namePattern = /^drv-[0-9a-f]{8}-\d{1,6}$/;
const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;
const commandMs = 60_000;

/** A host that starts with a dash would be an option. */
export function badHost(host: string | null): string | null {
  if (host === null) return 'set [remote] host to the host of the workers.';
  return /^[A-Za-z0-9_][A-Za-z0-9._@:%-]*$/.test(host)
    ? null
    : `"${host}" is not the name of a host.`;
}

export function createSshProvisioner(options: SshOptions): Provisioner {
  const host = options.host ?? '';
  const ssh: RunSsh = async (before, command) =>
    await runSsh(options, [...quietArgs, ...before], command, {});
  let known: Promise<readonly string[]> | null = null;
  const connectionArgs = async (): Promise<readonly string[]> => {
    known ??= ownKeyArgs(options.knownHosts, ssh);
    return [...quietArgs, ...strictArgs, ...(await known)];
  };
  const run: RunScript = async (script, input = null, signal) => {
    const problem = badHost(options.host);
    if (problem !== null) return err(problem);
    // Without other input, the script is passed on stdin, so that it does not appear in process
    // lists.
    const command = input === null ? ['/bin/sh', '-s'] : [script];
    const given = { input: input ?? script, signal };
    const end = await runSsh(options, await connectionArgs(), command, given);
    const refused = isKeyRefusal(end) ? await refusalOf(hostKeys) : null;
    return refused === null ? programOutput(options.program, end) : err(refused);
  };
  const hostKeys = hostKeysOf(options, ssh, () => {
    known = null;
  });
  return {
    kind: 'ssh',
    capabilities: { env: true, list: true, foreignPaths: true },
    hostKeys,
    create: async (spec, signal) => {
      const file = readFileSync(options.runtime);
      const hash = createHash('sha256').update(file).digest('hex').slice(0, 32);
      const copied = await copyRuntime(run, file, hash, signal);
      if (!copied.ok) return err({ message: copied.error, isCertain: true });
      const failed = (message: string) => err({ message, isCertain: false });
      const started = await run(startScript(spec, hash), null, signal);
      if (!started.ok) return failed(started.error);
      const port = /"url":"http:\/\/127\.0\.0\.1:(\d{1,5})"/.exec(started.value)?.[1];
      if (port === undefined) {
        return failed(`the runtime on ${host} did not start: ${toSingleLine(started.value)}`);
      }
      const tunnel = await openTunnel(options, await connectionArgs(), spec, Number(port));
      if (!tunnel.ok) return failed(tunnel.error);
      const { name, token } = spec;
      const close = (): Promise<void> => closeTunnel(options, name);
      // The host in the URL is only a name for messages. The connection uses the socket.
      const url = `http://localhost:${port}`;
      return ok({ name, id: name, url, socketPath: tunnel.value, token, close });
    },
    destroy: async ({ name }) => {
      if (!namePattern.test(name)) return err(`"${name}" is not the name of a worker.`);
      await closeTunnel(options, name).catch(() => undefined);
      const ended = await run(destroyScript(name));
      return ended.ok ? ok(null) : ended;
    },
    isGone: async ({ name }) => {
      if (!namePattern.test(name)) return false;
      // A host that cannot be asked proves nothing, because it may return soon.
      const asked = await run(aliveScript(name));
      return asked.ok && asked.value.trim() === 'gone';
    },
    list: async (owner) => {
      const listed = await run(listScript(owner));
      if (!listed.ok) return listed;
      const names = listed.value.split('\n').filter((name) => namePattern.test(name));
      return ok(names.map((name) => ({ name, id: name })));
    },
  };
}

async function runSsh(
  { program, args, host, env, cwd }: SshOptions,
  before: readonly string[],
  command: readonly string[],
  {
    input = '',
    signal,
  }: { readonly input?: string | Buffer; readonly signal?: AbortSignal | undefined },
): Promise<ProgramEnd> {
  const words = command.length === 0 ? [] : ['--', ...command];
  return await programEnd({
    program,
    args: [...before, ...args, host ?? '', ...words],
    env,
    cwd,
    input,
    timeoutMs: commandMs,
    ...(signal === undefined ? {} : { signal }),
  });
}

function hostKeysOf(options: SshOptions, ssh: RunSsh, onAccepted: () => void): HostKeys {
  const host = options.host ?? '';
  const refused = async (): ReturnType<typeof refusedKey> => {
    const problem = badHost(options.host);
    if (problem !== null) return err(problem);
    return await refusedKey(host, await ownKeyArgs(options.knownHosts, ssh), ssh);
  };
  return {
    sentence: keySentence,
    refused,
    accept: async (fingerprint) => {
      const key = await refused();
      if (!key.ok) return key.error;
      if (key.value === null) return null;
      if (key.value.isChanged) return keySentence(key.value);
      if (key.value.fingerprint !== fingerprint) {
        const shown = `${key.value.kind} ${key.value.fingerprint}`;
        return `The host ${host} shows ${shown}, not ${fingerprint}. Nothing was accepted.`;
      }
      keepKey(options.knownHosts, key.value);
      onAccepted();
      return null;
    },
  };
}

/** The remedy for a refused key. Returns null if only ssh's own message helps. */
async function refusalOf(hostKeys: HostKeys): Promise<string | null> {
  const key = await hostKeys.refused();
  if (!key.ok) return key.error;
  if (key.value === null) return null;
  const remedy = key.value.isChanged ? '' : ' Run "drover remote test".';
  return `${hostKeys.sentence(key.value)}${remedy}`;
}

type RunScript = (
  script: string,
  input?: Buffer | null,
  signal?: AbortSignal,
) => Promise<Result<string, string>>;

const home = 'd=$HOME/.cache/drover';

async function copyRuntime(
  run: RunScript,
  file: Buffer,
  hash: string,
  signal: AbortSignal,
): Promise<Result<null, string>> {
  const path = `"$d/runtime-${hash}.cjs"`;
  const asked = await run(`${home}; [ -f ${path} ] && echo yes || echo no`, null, signal);
  if (!asked.ok) return asked;
  if (asked.value.trim() === 'yes') return ok(null);
  const copied = await run(
    `${home}; umask 077; mkdir -p "$d" && cat > "$d/$$.new" && mv "$d/$$.new" ${path}`,
    file,
    signal,
  );
  return copied.ok ? ok(null) : copied;
}

/** Prints the line with the runtime's address, or its other output instead. */
function startScript(spec: InstanceSpec, hash: string): string {
  const variables = Object.entries({ ...spec.env, AGENT_TOKEN: spec.token })
    .filter(([name]) => variablePattern.test(name))
    .map(([name, value]) => `export ${name}=${quoted(value)}`);
  const seconds = Math.ceil(spec.ttlMs / 1000);
  return `${home}
umask 077
w=$d/workers/${spec.name}
mkdir -p "$w/workspace" || exit 1
printf '%s\\n' ${quoted(spec.owner)} > "$w/owner"
${variables.join('\n')}
command -v node > /dev/null || { echo 'Node.js is not on the PATH of this host.' >&2; exit 1; }
nohup node "$d/runtime-${hash}.cjs" --listen 127.0.0.1:0 --workspace "$w/workspace" --lifetime ${seconds}s --json > "$w/out" 2> "$w/err" < /dev/null &
echo $! > "$w/pid"
n=0
while [ $n -lt 150 ]; do
  if [ -s "$w/out" ]; then cat "$w/out"; exit 0; fi
  if [ -s "$w/err" ]; then cat "$w/err"; exit 0; fi
  n=$((n + 1))
  sleep 0.2
done
`;
}

/** Another program may have this process id by now. */
const isRuntime = (name: string): string =>
  `kill -0 "$p" 2> /dev/null && ps -o args= -p "$p" | grep -q -e "workers/${name}/"`;

/** Prints nothing if the host cannot tell. */
function aliveScript(name: string): string {
  return `${home}
w=$d/workers/${name}
[ -d "$w" ] || { echo gone; exit 0; }
command -v ps > /dev/null && [ -f "$w/pid" ] || exit 0
p=$(cat "$w/pid")
${isRuntime(name)} || echo gone
`;
}

function destroyScript(name: string): string {
  return `${home}
w=$d/workers/${name}
[ -d "$w" ] || exit 0
if [ -f "$w/pid" ]; then
  p=$(cat "$w/pid")
  if ${isRuntime(name)}; then
    kill -TERM "$p"
    n=0
    while kill -0 "$p" 2> /dev/null && [ $n -lt 50 ]; do n=$((n + 1)); sleep 0.1; done
    kill -KILL "$p" 2> /dev/null
  fi
fi
rm -rf "$w"
`;
}

function listScript(owner: string): string {
  return `${home}
for w in "$d"/workers/*/; do
  [ -f "$w/owner" ] && [ "$(cat "$w/owner")" = ${quoted(owner)} ] && basename "$w"
done
exit 0
`;
}
