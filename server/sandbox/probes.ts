// Attempts to escape the sandbox. Each one is started like an agent's program, and its result is
// reported.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './probe.ts';
import { bwrapArguments, withCallFilter, writeCallFilter } from './walls.ts';

export interface ProbeResult {
  readonly probe: string;
  readonly stopped: boolean;
}

export interface ProbeRequest {
  /** Null = without a sandbox. */
  readonly program: string | null;
  readonly network: 'open' | 'none';
  readonly home: string;
}

/** Shell commands that succeed if they escape. They change only files of the probe. */
const attempts: Readonly<Record<string, string>> = {
  'write a file outside the worktree': 'echo x > "$F/outside/new"',
  'read a file outside the worktree': 'cat "$F/outside/secret"',
  'read the files of your home': 'test -n "$(ls -A "$H")"',
  'read another worktree': 'cat "$F/other-slot/file"',
  'write a git hook': 'echo x > "$F/repo/.git/hooks/pre-commit"',
  'write the git configuration': 'echo x >> "$F/repo/.git/config"',
  'move a branch': 'echo x > "$F/repo/.git/refs/heads/main"',
  'reach a socket of another program': 'test -S "$F/socket"',
  'see other processes': 'test "$(readlink "/proc/$P/exe")" = "$E"',
  'write to folders of the system': 'test -w /usr',
  'set parameters of the kernel': 'test -w /proc/sys/kernel/core_pattern',
  'keep capabilities': "! grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status",
  'make namespaces': 'unshare -U true',
};

/** Probed only if the settings close the network; otherwise it is open on purpose. */
const networkAttempt = { 'reach the network': "grep -v lo: /proc/net/dev | grep -q ':'" };

/** Failed attempts must not make the shell itself fail, because without it nothing is proved. */
const proved = 'drover-probed';

export async function probeSandbox(request: ProbeRequest): Promise<readonly ProbeResult[]> {
  const { program, network, home } = request;
  const tried = { ...attempts, ...(network === 'none' ? networkAttempt : {}) };
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'drover-probes-')));
  const socket = createServer();
  try {
    const slot = layOut(folder);
    const listening = Promise.withResolvers<void>();
    socket.once('error', listening.reject).listen(join(folder, 'socket'), listening.resolve);
    await listening.promise;
    const script = scriptOf(Object.values(tried), folder, home);
    const mounts = [
      { from: join(folder, 'home'), to: home, mode: 'write' as const },
      { from: slot, to: slot, mode: 'write' as const },
    ];
    const shell = ['/bin/sh', '-c', script];
    const filter = writeCallFilter(folder);
    const walls = bwrapArguments({ cwd: slot, mounts, network, variables: {}, filter });
    const said = await run(
      program === null ? shell : withCallFilter(filter, [program, ...walls, ...shell]),
    );
    const lines = said.text.split('\n');
    const isWhole = lines.includes(proved);
    return Object.keys(tried).map((probe, index) => ({
      probe,
      stopped: isWhole && lines.includes(`stopped ${index}`),
    }));
  } finally {
    socket.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function scriptOf(commands: readonly string[], folder: string, home: string): string {
  const variables = { F: folder, H: home, P: String(process.pid), E: process.execPath };
  const given = Object.entries(variables).map(([name, value]) => `${name}=${quoted(value)}`);
  const lines = commands.map(
    (command, index) =>
      `if ( ${command} ) > /dev/null 2>&1; then echo 'out ${index}'; else echo 'stopped ${index}'; fi`,
  );
  return [...given, ...lines, `echo ${proved}`].join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Returns the folder that represents a worktree. */
function layOut(folder: string): string {
  for (const name of [
    'slot',
    'home',
    'outside',
    'other-slot',
    'repo/.git/hooks',
    'repo/.git/refs/heads',
  ])
    mkdirSync(join(folder, name), { recursive: true });
  for (const name of ['outside/secret', 'other-slot/file', 'repo/.git/config'])
    writeFileSync(join(folder, name), 'x\n');
  return join(folder, 'slot');
}
