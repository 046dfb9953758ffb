// A program's attempts to escape the sandbox, each with a name: none succeeds; each succeeds if the
// wall that stops it is removed; and SECURITY.md lists exactly the attempts that succeed without a
// sandbox.

import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { prepareHome } from '../../server/sandbox/agent-homes.ts';
import {
  bwrapArguments,
  type Mount,
  withCallFilter,
  writeCallFilter,
} from '../../server/sandbox/walls.ts';
import { removeFolder } from '../remove-folder.ts';
import { withKey } from './escape-calls.ts';
import { isHere, network, notTheirs, reads, walls, writes, type Words } from './escape-probes.ts';

const isThere =
  spawnSync('bwrap', ['--ro-bind', '/', '/', '--proc', '/proc', '--unshare-all', 'true']).status ===
  0;
const isRoot = process.getuid?.() === 0;

const allReads = merged(Object.values(reads));
const allWrites = Object.values(writes).flat();
const wallsWith = (hasTerminal: boolean): Words =>
  merged(
    Object.values(walls)
      .filter((wall) => (wall.hasTerminal === true) === hasTerminal)
      .map(({ probes }) => probes),
  );
const [allOfWalls, allOfTerminal] = [wallsWith(false), wallsWith(true)];

interface Place {
  readonly top: string;
  readonly slot: string;
  readonly home: string;
}

function makePlace(): Place {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'drover-escape-')));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(top, path)), { recursive: true });
    writeFileSync(join(top, path), text);
  };
  for (const path of allWrites) write(path, 'theirs\n');
  for (const path of notTheirs) write(path, 'secret\n');
  write('worktrees/slot-1/mine.txt', 'mine\n');
  return { top, slot: join(top, 'worktrees', 'slot-1'), home: join(top, 'home') };
}

function merged(tables: readonly Words[]): Words {
  return Object.fromEntries(tables.flatMap((table) => Object.entries(table)));
}

/** One shell for all attempts: it prints a line for each that succeeded. */
function script(tries: Words): string {
  const lines = Object.entries(tries).map(
    ([name, words]) => `( ${words} ) > /dev/null 2>&1 < /dev/null && echo 'OUT ${name}'`,
  );
  return `cd "$SLOT"\n${lines.join('\n')}\necho done\n`;
}

const writing = allWrites
  .map(
    (path) => `( mkdir -p "$(dirname "$T/${path}")"; echo planted >> "$T/${path}" ) 2> /dev/null`,
  )
  .join('\n');

function run(program: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  return new Promise<string>((resolve) => {
    execFile(program, [...args], { env, timeout: 60_000 }, (_error, stdout, stderr) =>
      resolve(stdout === '' ? stderr : stdout),
    );
  });
}

function namesOf(said: string): string[] {
  assert.match(said, /^done\r?$/m);
  return said.split(/\r?\n/).flatMap((line) => /^OUT (.*)$/.exec(line)?.[1] ?? []);
}

function planted(place: Place): string[] {
  return allWrites.filter((path) => {
    const file = join(place.top, path);
    return existsSync(file) && readFileSync(file, 'utf8').includes('planted');
  });
}

/** The rows of the list in SECURITY.md: the attempts, and the names that belong to each. */
function listed(): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync('SECURITY.md', 'utf8');
  const list = text.slice(
    text.indexOf('<!-- tried: begin -->'),
    text.indexOf('<!-- tried: end -->'),
  );
  return new Map(
    list.split('\n').flatMap((line) => {
      const [, group, names] = /^\| ([A-Z][^|]*?) \| (`.*`) \|$/.exec(line) ?? [];
      if (group === undefined || names === undefined) return [];
      return [[group, [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)] as const];
    }),
  );
}

/** An address in the process's memory: the first bytes of its program. */
function addressIn(pid: number | undefined): string {
  return /^([0-9a-f]+)-/.exec(readFileSync(`/proc/${pid}/maps`, 'latin1'))?.[1] ?? '';
}

/** `session` of proc_pid_stat(5). */
function ownSession(): string {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3] ?? '';
}

suite('escape attempts', function () {
  this.timeout(60_000);
  suiteSetup(() => {
    assert.ok(
      isThere,
      'bubblewrap is missing or may not make namespaces here: apt-get install bubblewrap',
    );
  });
  let place: Place;
  let servers: readonly Server[];
  let neighbor: ChildProcess;
  let shared: string;
  let env: Record<string, string>;
  setup(async () => {
    place = makePlace();
    const abstract = `drover-escape-${process.pid}`;
    const port = { host: '127.0.0.1', port: 0 };
    servers = await Promise.all(
      [port, { path: join(place.top, 'run/agent.sock') }, { path: `\0${abstract}` }].map(
        (at) =>
          new Promise<Server>((resolve) => {
            const server = createServer((socket) => socket.end());
            server.listen(at, () => resolve(server));
          }),
      ),
    );
    neighbor = spawn('sleep', ['600'], { env: { MARK_OF_TEST: '1' }, argv0: 'mark-of-test' });
    shared =
      /\d+/u.exec(spawnSync('ipcmk', ['-M', '4096'], { encoding: 'utf8' }).stdout)?.[0] ?? '';
    env = {
      PATH: `${dirname(process.execPath)}:/usr/sbin:/usr/bin:/sbin:/bin`,
      HOME: place.home,
      T: place.top,
      H: place.home,
      SLOT: place.slot,
      P: String(neighbor.pid),
      MEM: addressIn(neighbor.pid),
      PORT: String((servers[0]?.address() as AddressInfo | undefined)?.port),
      ABSTRACT: abstract,
      SHARED: shared,
      SESSION: ownSession(),
    };
  });
  teardown(async () => {
    neighbor.kill('SIGKILL');
    spawnSync('ipcrm', ['-m', shared]);
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    removeFolder(place.top);
  });

  const wallsOf = (kind: 'open' | 'none'): readonly string[] => {
    const own = join(place.top, 'own');
    const folders = ['home', 'tmp'].map((name) => join(own, name));
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    prepareHome(folders[0] ?? '', 'claude', place.home);
    const mounts: Mount[] = [
      { from: folders[1] ?? '', to: '/tmp', mode: 'write' },
      { from: folders[0] ?? '', to: place.home, mode: 'write' },
      { from: dirname(process.execPath), to: dirname(process.execPath), mode: 'read' },
      { from: place.slot, to: place.slot, mode: 'write' },
    ];
    const filter = writeCallFilter(own);
    return bwrapArguments({ cwd: place.slot, mounts, network: kind, variables: {}, filter });
  };
  /** Runs in a session that has a key. `args` is null to run without bubblewrap. */
  const startOf = (args: readonly string[] | null, words: string): readonly string[] => {
    const shell = ['/bin/sh', '-c', words];
    if (args === null) return [...withKey, ...shell];
    const filter = args.includes('--seccomp') ? join(place.top, 'own', 'calls.bpf') : null;
    return [...withKey, ...withCallFilter(filter, ['bwrap', ...args, ...shell])];
  };
  const behind = (args: readonly string[] | null, words: string): Promise<string> => {
    const [program = '', ...others] = startOf(args, words);
    return run(program, others, env);
  };
  /** The same, with a terminal as descriptor 3. */
  const inTerminal = (args: readonly string[] | null, tries: Words): Promise<string> => {
    const start = startOf(args, `exec 3<&0\n${script(tries)}`);
    return run('script', ['-qec', start.map(quoted).join(' '), '/dev/null'], env);
  };

  test('no attempt gets out of the sandbox', async () => {
    const said = await behind(
      wallsOf('open'),
      `${script({ ...allReads, ...allOfWalls })}${writing}`,
    );
    assert.deepEqual(namesOf(said), []);
    assert.deepEqual(planted(place), []);
    assert.deepEqual(namesOf(await inTerminal(wallsOf('open'), allOfTerminal)), []);
    assert.ok(Object.keys({ ...allReads, ...allOfWalls }).length + allWrites.length >= 100);
  });

  test('no attempt reaches a network without network access, and each does with it', async () => {
    assert.deepEqual(namesOf(await behind(wallsOf('none'), script(network))), []);
    assert.deepEqual(namesOf(await behind(wallsOf('open'), script(network))), Object.keys(network));
  });

  // As another user, the system itself stops calls that only root can make.
  for (const [name, wall] of Object.entries(walls)) {
    if (wall.isRoots && !isRoot) continue;
    test(`an attempt gets out if its wall is removed: ${name}`, async () => {
      const args = wallsOf('open');
      const removed = wall.removed(args);
      assert.notDeepEqual(removed, args);
      const said =
        wall.hasTerminal === true
          ? inTerminal(removed, wall.probes)
          : behind(removed, script(wall.probes));
      assert.deepEqual(namesOf(await said), Object.keys(wall.probes));
    });
  }

  test('without a sandbox, exactly the attempts that SECURITY.md lists get out', async () => {
    // Root gets only its own mount table, so that it does not unmount the machine's filesystems.
    const open = isRoot ? ['--dev-bind', '/', '/', '--cap-add', 'ALL'] : null;
    const tried = { ...allReads, ...network, ...allOfWalls };
    const out = new Set([
      ...namesOf(await behind(open, `${script(tried)}${writing}`)),
      ...namesOf(await inTerminal(open, allOfTerminal)),
    ]);
    const written = new Set(planted(place));
    const groups = { ...reads, 'Use the network': network };
    const rows: (readonly [string, readonly string[]])[] = [
      ...Object.entries(groups).map(([name, probes]) => rowOf(name, probes, out)),
      ...Object.entries(writes).map(
        ([name, paths]) => [name, paths.filter((path) => written.has(path))] as const,
      ),
      ...Object.entries(walls)
        .filter(([, { isRoots }]) => isRoot || !isRoots)
        .map(([name, { probes }]) => rowOf(name, probes, out)),
    ];
    const isTried = ([name]: readonly [string, unknown]): boolean =>
      isRoot || walls[name]?.isRoots !== true;
    assert.deepEqual(
      [...listed()].filter(isTried).map(([name, names]) => [name, names.filter(isHere)]),
      rows.filter(([, names]) => names.length > 0),
    );
  });

  test('the worktree itself exists and is writable', async () => {
    await behind(wallsOf('open'), 'echo more >> mine.txt; echo new > new.txt');
    assert.equal(readFileSync(join(place.slot, 'mine.txt'), 'utf8'), 'mine\nmore\n');
    assert.equal(readFileSync(join(place.slot, 'new.txt'), 'utf8'), 'new\n');
  });
});

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function rowOf(name: string, probes: Words, out: ReadonlySet<string>) {
  return [name, Object.keys(probes).filter((probe) => out.has(probe))] as const;
}
