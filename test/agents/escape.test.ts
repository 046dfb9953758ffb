// Escape attempts of a program in the sandbox, each by name: none succeeds, and each succeeds
// without the sandbox.

import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { prepareHome } from '../../server/sandbox/agent-homes.ts';
import { bwrapArguments, type Mount } from '../../server/sandbox/walls.ts';

const isThere =
  spawnSync('bwrap', ['--ro-bind', '/', '/', '--proc', '/proc', '--unshare-all', 'true']).status ===
  0;

const secrets = [
  '.ssh/id_ed25519',
  '.aws/credentials',
  '.npmrc',
  '.netrc',
  '.git-credentials',
  '.gnupg/private',
  '.docker/config.json',
  '.kube/config',
  '.config/gh/hosts.yml',
  '.config/gcloud/creds.db',
  '.bash_history',
  '.zsh_history',
  '.psql_history',
  '.pgpass',
  '.mozilla/cookies.sqlite',
  '.config/google-chrome/Cookies',
  '.local/share/keyrings/login',
  '.env',
  'Documents/letter.txt',
  '.claude/projects/other.jsonl',
  '.codex/sessions/other.jsonl',
  '.vscode/settings.json',
  '.terraform.d/credentials',
  '.pypirc',
];
const starters = [
  '.bashrc',
  '.profile',
  '.zshrc',
  '.config/autostart/x.desktop',
  '.config/systemd/user/x.service',
  '.local/bin/git',
  '.gitconfig',
  '.ssh/authorized_keys',
  '.ssh/config',
  '.claude/settings.json',
  '.codex/config.toml',
  '.vscode/tasks.json',
  '.npmrc',
  '.config/fish/config.fish',
  '.inputrc',
  '.vimrc',
  '.cargo/config.toml',
  '.m2/settings.xml',
];
const outside = [
  'repo/.drover/drover.db',
  'repo/.drover/backend.json',
  'repo/.drover/logs/other/1.ndjson',
  'repo/.drover/logs/other/1.ndjson.mcp.json',
  'repo/README.md',
  'repo/.env',
  'repo/.drover.toml',
  'worktrees/slot-2/secret.txt',
  'worktrees/gate-1/README.md',
  'mnt/disk/file',
];
const repository = [
  '.git/hooks/pre-commit',
  '.git/config',
  '.git/refs/heads/main',
  '.git/packed-refs',
  '.git/info/attributes',
  '.git/info/exclude',
  '.git/worktrees/slot-2/HEAD',
  '.git/worktrees/slot-2/index',
  '.git/objects/info/alternates',
  '.git/modules/x/config',
  '.git/HEAD',
  '.git/index',
];
const kernel = [
  '/proc/sys/kernel/core_pattern',
  '/proc/sys/kernel/hostname',
  '/proc/sys/vm/drop_caches',
  '/proc/sysrq-trigger',
  '/proc/sys/kernel/modprobe',
];
const system = ['/usr/bin', '/etc', '/etc/passwd', '/usr/lib', '/opt'];
const masked = ['/etc/shadow', '/etc/gshadow'];

/** Tries that show themselves by their end: shell words that end with 0 where the try got out. */
const reads: Readonly<Record<string, string>> = {
  ...Object.fromEntries(secrets.map((name) => [`read ~/${name}`, `grep -q secret "$H/${name}"`])),
  ...Object.fromEntries(outside.map((name) => [`read ${name}`, `test -s "$T/${name}"`])),
  'connect to a socket of the user': `node -e 'require("net").connect(process.env.T+"/run/agent.sock").on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))'`,
  'see a process of the machine': 'kill -0 $P',
  'signal a process of the machine': 'kill -CONT $P',
  'read its environment': 'grep -qz MARK_OF_TEST /proc/$P/environ',
  'read its root folder': 'ls "/proc/$P/root/"',
  'find it by its words': 'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -q "mark-of-tes[t]"',
  'follow a link out': 'ln -sfn "$T/repo/README.md" out && test -s out',
  'follow a link to home': 'ln -sfn "$H/.ssh/id_ed25519" key && grep -q secret key',
  'make a hard link of a file': 'rm -f hard; ln "$T/repo/README.md" hard',
  'list the worktrees': 'test -d "$T/worktrees/slot-2"',
  'list the home': 'ls -A "$H" | grep -q Documents',
};

/** Files below the fixture: a try got out when the machine's own file has the word in it. */
const writes: readonly string[] = [
  ...starters.map((name) => `home/${name}`),
  ...outside,
  ...repository.map((name) => `repo/${name}`),
  'run/dropped',
  'tmp/dropped',
];

/** Walls of the kernel and the system. They are not tried without walls: the machine would be the one that suffers. */
const untouched: Readonly<Record<string, string>> = {
  ...Object.fromEntries(kernel.map((name) => [`set ${name}`, `test -w ${name}`])),
  ...Object.fromEntries(system.map((name) => [`change ${name}`, `test -w ${name}`])),
  ...Object.fromEntries(masked.map((name) => [`read ${name}`, `grep -q : ${name}`])),
  'keep capabilities': '! grep -q "^CapEff:[[:space:]]*0*$" /proc/self/status',
  'make a namespace': 'unshare -Ur true',
  'mount something': 'unshare -m true',
  'write the system again': 'mount -o remount,bind,rw /usr',
  'uncover what is below': 'umount /tmp',
  'change the name of the host': 'unshare -u true',
  'see devices': 'ls /dev/kmsg || ls /dev/mem || ls /dev/mapper',
  'leave the root folder': 'chroot / true',
};

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
  for (const path of new Set([...writes, ...outside])) write(path, 'theirs\n');
  for (const name of secrets) write(`home/${name}`, 'secret\n');
  write('worktrees/slot-1/mine.txt', 'mine\n');
  return { top, slot: join(top, 'worktrees', 'slot-1'), home: join(top, 'home') };
}

/** One shell for all tries: a line for each that got out. */
function script(tries: Readonly<Record<string, string>>): string {
  const lines = Object.entries(tries).map(
    ([name, words], index) =>
      `( ${words} ) > /dev/null 2>&1 < /dev/null && echo 'OUT ${index} ${name}'`,
  );
  const written = writes.map(
    (path) => `( mkdir -p "$(dirname "$T/${path}")"; echo planted >> "$T/${path}" ) 2> /dev/null`,
  );
  return `cd "$SLOT"\n${[...lines, ...written].join('\n')}\necho done\n`;
}

function run(program: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  return new Promise<string>((resolve) => {
    execFile(program, [...args], { env, timeout: 60_000 }, (_error, stdout) => resolve(stdout));
  });
}

function namesOf(said: string): string[] {
  return said.split('\n').flatMap((line) => /^OUT \d+ (.*)$/.exec(line)?.[1] ?? []);
}

function planted(place: Place): string[] {
  return writes.filter((path) => {
    const file = join(place.top, path);
    return existsSync(file) && readFileSync(file, 'utf8').includes('planted');
  });
}

suite('escapes', function () {
  this.timeout(60_000);
  suiteSetup(() => {
    assert.ok(
      isThere,
      'bubblewrap is missing or may not make namespaces here: apt-get install bubblewrap',
    );
  });
  let place: Place;
  let server: Server;
  let neighbor: ChildProcess;
  let env: Record<string, string>;
  setup(async () => {
    place = makePlace();
    server = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => server.listen(join(place.top, 'run/agent.sock'), resolve));
    neighbor = spawn('sleep', ['600'], { env: { MARK_OF_TEST: '1' }, argv0: 'mark-of-test' });
    env = {
      PATH: `${dirname(process.execPath)}:/usr/sbin:/usr/bin:/sbin:/bin`,
      HOME: place.home,
      T: place.top,
      H: place.home,
      SLOT: place.slot,
      P: String(neighbor.pid),
    };
  });
  teardown(async () => {
    neighbor.kill('SIGKILL');
    await new Promise((resolve) => server.close(resolve));
    rmSync(place.top, { recursive: true, force: true });
  });

  const behindWalls = (words: string): Promise<string> => {
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
    const walls = bwrapArguments({ cwd: place.slot, mounts, network: 'open', variables: {} });
    return run('bwrap', [...walls, '/bin/sh', '-c', words], env);
  };

  test('none of them gets out', async () => {
    const said = await behindWalls(script({ ...reads, ...untouched }));
    assert.match(said, /done\n$/);
    assert.deepEqual(namesOf(said), []);
    assert.deepEqual(planted(place), []);
    assert.ok(Object.keys({ ...reads, ...untouched }).length + writes.length >= 100);
  });

  test('without walls each of them gets out', async () => {
    const said = await run('/bin/sh', ['-c', script(reads)], env);
    assert.deepEqual(
      Object.keys(reads).filter((name) => !namesOf(said).includes(name)),
      [],
    );
    assert.deepEqual(
      writes.filter((path) => !planted(place).includes(path)),
      [],
    );
  });

  test('the worktree itself is there, and can be written', async () => {
    await behindWalls('echo more >> mine.txt; echo new > new.txt');
    assert.equal(readFileSync(join(place.slot, 'mine.txt'), 'utf8'), 'mine\nmore\n');
    assert.equal(readFileSync(join(place.slot, 'new.txt'), 'utf8'), 'new\n');
  });
});
