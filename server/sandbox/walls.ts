// The sandbox of one program as bubblewrap arguments. It is an allow-list; everything else is
// hidden.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { callFilter } from './call-filter.ts';

export interface Mount {
  /** Path on the machine. */
  readonly from: string;
  /** Path inside. The same unless it replaces another path. */
  readonly to: string;
  /** `hide`: replaced by an empty folder. */
  readonly mode: 'read' | 'write' | 'hide';
}

export interface Walls {
  readonly cwd: string;
  /** Mounts over the system's roots, in any order. */
  readonly mounts: readonly Mount[];
  readonly network: 'open' | 'none';
  /** Variables to set or (null) remove inside. */
  readonly variables: Readonly<Record<string, string | null>>;
  /** The file that `writeCallFilter` wrote. Null if this architecture has no filter. */
  readonly filter: string | null;
}

/** Programs, libraries and configuration of the system; read-only. */
const systemRoots = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/opt',
  '/nix',
];

/** Readable only for root, so a sandbox that runs as root could read them. */
const rootsOwn = [
  '/etc/shadow',
  '/etc/shadow-',
  '/etc/gshadow',
  '/etc/gshadow-',
  '/etc/sudoers',
  '/etc/ssl/private',
  '/etc/ssh',
  '/etc/docker',
  '/etc/NetworkManager/system-connections',
  '/etc/wireguard',
  // They list the names of keys and of waiting programs.
  '/proc/keys',
  '/proc/key-users',
  '/proc/timer_list',
];

/** Files that root can write through /proc although it is mounted read-only elsewhere. */
const fixedInProc =
  `/proc/sys /proc/sysrq-trigger /proc/irq /proc/bus /proc/fs /proc/acpi /proc/scsi /proc/driver
  /proc/dynamic_debug /proc/mtrr`.split(/\s+/);

/**
 * Arguments of bubblewrap up to the program. No capabilities, no nested user namespaces, separate
 * processes, IPC, host name and terminal session. Everything ends when the program that started it
 * ends.
 */
export function bwrapArguments(walls: Walls): string[] {
  const args = [
    ...words('--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try'),
    ...(walls.network === 'none' ? ['--unshare-net'] : []),
    ...words('--cap-drop ALL --disable-userns --die-with-parent --new-session'),
    ...(walls.filter === null ? [] : ['--seccomp', String(filterDescriptor)]),
    ...systemRoots.flatMap(rootArguments),
    ...words('--proc /proc'),
    ...fixedInProc.flatMap((path) => ['--ro-bind-try', path, path]),
    ...words('--dev /dev --tmpfs /run --tmpfs /var --dir /var/tmp --tmpfs /tmp'),
    ...hidden(),
    ...nameResolution(),
  ];
  for (const { from, to, mode } of inOrder(walls.mounts))
    args.push(...(mode === 'hide' ? ['--tmpfs', to] : [bindings[mode], from, to]));
  for (const [name, value] of Object.entries(walls.variables))
    args.push(...(value === null ? ['--unsetenv', name] : ['--setenv', name, value]));
  return [...args, '--chdir', walls.cwd, '--'];
}

const filterDescriptor = 9;

/** The command with the open file from which bubblewrap reads the filter. */
export function withCallFilter(
  filter: string | null,
  command: readonly string[],
): readonly string[] {
  if (filter === null) return command;
  return ['/bin/sh', '-c', `exec ${filterDescriptor}< "$0" && exec "$@"`, filter, ...command];
}

/** Writes the filter to a folder that no confined program can see. */
export function writeCallFilter(folder: string): string | null {
  const content = callFilter();
  if (content === null) return null;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'calls.bpf');
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, content, { mode: 0o600 });
  renameSync(fresh, file);
  return file;
}

const bindings = { read: '--ro-bind', write: '--bind' } as const;

function words(text: string): string[] {
  return text.split(' ');
}

function rootArguments(root: string): string[] {
  const facts = lstatSync(root, { throwIfNoEntry: false });
  if (facts === undefined) return [];
  if (facts.isSymbolicLink()) return ['--symlink', readlinkSync(root), root];
  return facts.isDirectory() ? ['--ro-bind', root, root] : [];
}

function hidden(): string[] {
  return rootsOwn.flatMap((path) => {
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts === undefined || facts.isSymbolicLink()) return [];
    return facts.isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
  });
}

/**
 * The file with the name servers is a link into a folder of run-time files, which is otherwise not
 * mounted.
 */
function nameResolution(): string[] {
  try {
    const real = realpathSync('/etc/resolv.conf');
    return real.startsWith('/run/') ? ['--ro-bind', real, real] : [];
  } catch {
    return [];
  }
}

/**
 * A mount hides earlier mounts beneath it, so parents come first. If two mounts share a target, the
 * last one wins.
 */
function inOrder(mounts: readonly Mount[]): readonly Mount[] {
  const byPlace = new Map(mounts.map((mount) => [mount.to, mount]));
  return [...byPlace.values()].toSorted((a, b) => depthOf(a.to) - depthOf(b.to));
}

function depthOf(path: string): number {
  return path.split(sep).filter((part) => part !== '').length;
}

/** Whether `folder` is the place itself or one of its parents. */
export function contains(folder: string, place: string): boolean {
  return folder === place || place.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Whether the path is already available as a part of the system. */
export function isOfSystem(path: string): boolean {
  return systemRoots.some((root) => contains(root, path));
}

/** Resolves a path from the settings. Returns null if it does not exist. */
export function resolveSettingPath(text: string, home: string, root: string): string | null {
  const path =
    text === '~' || text.startsWith('~/')
      ? join(home, text.slice(1))
      : isAbsolute(text)
        ? text
        : resolve(root, text);
  return existsSync(path) ? path : null;
}

/**
 * The folder that a program needs to run: its package, its prefix, or the folder that contains it.
 */
export function folderOfProgram(program: string): string {
  const parts = program.split(sep);
  const modules = parts.indexOf('node_modules');
  if (modules !== -1) return parts.slice(0, modules + 1).join(sep);
  const folder = dirname(program);
  const name = folder.slice(folder.lastIndexOf(sep) + 1);
  const above = dirname(folder);
  const isPrefix = (name === 'bin' || name === 'sbin') && !above.endsWith(`${sep}.local`);
  return isPrefix ? above : folder;
}
