// Programs' attempts to escape the sandbox, each with a name and the wall that stops it.

import { existsSync } from 'node:fs';
import { kernelLog, keys, memory, stoppedAnyway, terminal } from './escape-calls.ts';

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
  '/proc/sys/kernel/randomize_va_space',
  '/proc/sys/vm/drop_caches',
  '/proc/sys/vm/overcommit_memory',
  '/proc/sys/fs/file-max',
  '/proc/sysrq-trigger',
  '/proc/sys/kernel/modprobe',
].filter(isHere);
const system = ['/usr/bin', '/etc', '/etc/passwd', '/usr/lib', '/opt'];
const masked = ['/etc/shadow', '/etc/gshadow'].filter(isHere);

export type Words = Readonly<Record<string, string>>;

/**
 * Grouped by the wall that stops them, as in SECURITY.md: shell commands that exit with 0 if the
 * attempt escaped.
 */
export const reads: Readonly<Record<string, Words>> = {
  'Read files of your home': named(secrets, (name) => `grep -q secret "$H/${name}"`),
  'Read your checkout, what Drover keeps, and other worktrees': named(
    outside,
    (name) => `test -s "$T/${name}"`,
  ),
  'Follow links, and list folders': {
    'follow a link out': 'ln -sfn "$T/repo/README.md" out && test -s out',
    'follow a link to home': 'ln -sfn "$H/.ssh/id_ed25519" key && grep -q secret key',
    'make a hard link of a file': 'rm -f hard; ln "$T/repo/README.md" hard',
    'list the worktrees': 'test -d "$T/worktrees/slot-2"',
    'list the home': 'ls -A "$H" | grep -q Documents',
  },
  'Reach other programs': {
    'connect to a socket of the user': connect('path: process.env.T + "/run/agent.sock"'),
    'see a process of the machine': 'kill -0 $P',
    'signal a process of the machine': 'kill -CONT $P',
    'read its environment': 'grep -qz MARK_OF_TEST /proc/$P/environ',
    'read its root folder': 'ls "/proc/$P/root/"',
    'read where its memory is': 'test -n "$(cat /proc/$P/maps)"',
    'list its open files': 'ls "/proc/$P/fd/0"',
    'enter its working folder': 'cd "/proc/$P/cwd/"',
    'join its namespaces': 'readlink "/proc/$P/ns/mnt"',
    ...memory,
    'find it by its words': `cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -q "mark-of-tes[t]"`,
  },
};

/** Applies only if `network` closes it, because an open network intentionally allows these. */
export const network: Words = {
  'connect to a port of the machine': connect('host: "127.0.0.1", port: Number(process.env.PORT)'),
  'connect to an abstract socket': connect('path: "\\0" + process.env.ABSTRACT'),
  'see the interfaces of the machine': "grep -v lo: /proc/net/dev | grep -q ':'",
};

/** Files below the folder: an attempt escaped if the machine's own file contains the word. */
export const writes: Readonly<Record<string, readonly string[]>> = {
  'Write files of your home that other programs start or read': starters.map(
    (name) => `home/${name}`,
  ),
  'Write your checkout, what Drover keeps, and other worktrees': outside,
  'Write the repository': repository.map((name) => `repo/${name}`),
  'Write temporary files and files of sessions': ['run/dropped', 'tmp/dropped'],
};

export interface Wall {
  readonly probes: Words;
  /** The arguments of bubblewrap without only this wall. */
  readonly removed: (args: readonly string[]) => readonly string[];
  /** Without a sandbox, only root succeeds, because the system stops all other users. */
  readonly isRoots: boolean;
  /** These need a terminal as descriptor 3. */
  readonly hasTerminal?: boolean;
}

/**
 * Walls of the kernel and the system, by the attempts against them. Each is removed alone, in a
 * separate mount table, because otherwise the machine itself would be affected.
 */
export const walls: Readonly<Record<string, Wall>> = {
  'Set parameters of the kernel': {
    probes: named(kernel, (name) => `test -w ${name}`),
    removed: (args) => withoutMount(args, (to) => to.startsWith('/proc/')),
    isRoots: true,
  },
  'Write folders of the system': {
    probes: named(system, (name) => `test -w ${name}`),
    removed: (args) => replaced(args, '--ro-bind', '--bind'),
    isRoots: true,
  },
  'Read what only root may read': {
    probes: named(masked, (name) => `grep -q : ${name}`),
    removed: (args) => withoutMount(args, (to) => masked.includes(to)),
    isRoots: true,
  },
  'Have capabilities': {
    probes: {
      'keep capabilities': '! grep -q "^CapEff:[[:space:]]*0*$" /proc/self/status',
      'mount something': 'unshare -m true',
      'write the system again': 'mount -o remount,bind,rw /usr',
      'change the name of the host': 'unshare -u true',
      'leave the root folder': 'chroot / true',
    },
    removed: privileged,
    isRoots: true,
  },
  'Uncover what a sandbox covers': {
    probes: { 'uncover what is below': 'umount -l /tmp' },
    removed: privileged,
    isRoots: true,
  },
  'Make namespaces': {
    // Requests no user mapping, because root without capabilities gets none, even without any wall.
    probes: { 'make a namespace': 'unshare -U true' },
    removed: (args) => args.filter((arg) => arg !== '--disable-userns'),
    isRoots: false,
  },
  'See devices': {
    probes: { 'see devices': 'ls /dev/kmsg || ls /dev/mem || ls /dev/mapper' },
    removed: (args) => withDevices(args),
    isRoots: false,
  },
  'Share memory with other programs': {
    probes: { 'see shared memory': 'ipcs -m -i $SHARED | grep -q bytes' },
    removed: (args) => args.filter((arg) => arg !== '--unshare-ipc'),
    isRoots: false,
  },
  'Use the keys of your session': {
    probes: keys,
    removed: (args) => withoutMount(withoutFilter(args), (to) => to === '/proc/keys'),
    isRoots: false,
  },
  'Read the log of the kernel': {
    probes: kernelLog,
    // Most systems show it only to the machine's root.
    removed: (args) =>
      replaced(withoutFilter(args), '--cap-drop', '--cap-add').filter(
        (arg) => arg !== '--unshare-user' && arg !== '--disable-userns',
      ),
    isRoots: true,
  },
  'Put words into your terminal': {
    probes: terminal,
    removed: (args) => withoutFilter(args).filter((arg) => arg !== '--new-session'),
    isRoots: false,
    hasTerminal: true,
  },
  'Stay in the session of your terminal': {
    probes: {
      'stay in the session':
        'sid=$(cut -d" " -f6 /proc/self/stat); test "$sid" = 0 || test "$sid" = "$SESSION"',
    },
    removed: (args) => args.filter((arg) => arg !== '--new-session'),
    isRoots: false,
  },
};

export const notTheirs: readonly string[] = secrets.map((name) => `home/${name}`);

/** Features that a kernel or system lacks prove nothing. */
export function isHere(name: string): boolean {
  return !stoppedAnyway.has(name) && (!name.startsWith('/') || existsSync(name));
}

function named(names: readonly string[], words: (name: string) => string): Words {
  return Object.fromEntries(names.map((name) => [name, words(name)]));
}

function connect(options: string): string {
  return `node -e 'require("net").connect({ ${options} }).on("connect", () => process.exit(0)).on("error", () => process.exit(1))'`;
}

function replaced(args: readonly string[], from: string, to: string): string[] {
  return args.map((arg) => (arg === from ? to : arg));
}

/** Removes the read-only mounts over these paths. */
function withoutMount(args: readonly string[], isMeant: (to: string) => boolean): string[] {
  const starts = args.flatMap((arg, at) =>
    /^--ro-bind(-try)?$/u.test(arg) && isMeant(args[at + 2] ?? '') ? [at] : [],
  );
  return args.filter((_, at) => !starts.some((start) => at >= start && at < start + 3));
}

function withoutFilter(args: readonly string[]): string[] {
  const at = args.indexOf('--seccomp');
  return at === -1 ? [...args] : [...args.slice(0, at), ...args.slice(at + 2)];
}

function withDevices(args: readonly string[]): string[] {
  const at = args.indexOf('--dev');
  return [...args.slice(0, at), '--dev-bind', '/dev', '/dev', ...args.slice(at + 2)];
}

/** Runs as root in its own user namespace. */
function privileged(args: readonly string[]): string[] {
  const kept = replaced(args, '--cap-drop', '--cap-add').filter(
    (arg) => arg !== '--disable-userns',
  );
  return ['--uid', '0', '--gid', '0', ...kept];
}
