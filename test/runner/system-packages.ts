// The system programs that the tests drive: which are missing, and how to install them.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

interface SystemPackage {
  /** Debian's name. */
  readonly name: string;
  /** Suites whose tests need it. */
  readonly suites: readonly string[];
  readonly isInstalled: () => boolean;
}

const realProcesses = ['agents', 'workers', 'end-to-end', 'fleet', 'neighbours'];
const browsers = ['webview', 'in-host', 'vscode', 'vscode-host'];

export const systemPackages: readonly SystemPackage[] = [
  { name: 'bubblewrap', suites: realProcesses, isInstalled: () => onPath('bwrap') },
  { name: 'iproute2', suites: ['fleet', 'end-to-end'], isInstalled: () => onPath('ip') },
  { name: 'procps', suites: realProcesses, isInstalled: () => onPath('ps') },
  { name: 'curl', suites: ['end-to-end'], isInstalled: () => onPath('curl') },
  { name: 'pgbouncer', suites: ['end-to-end'], isInstalled: () => onPath('pgbouncer') },
  { name: 'prometheus', suites: ['end-to-end'], isInstalled: () => onPath('prometheus') },
  { name: 'openssh-server', suites: ['end-to-end', 'fleet'], isInstalled: () => onPath('sshd') },
  { name: 'openssh-client', suites: ['end-to-end', 'fleet'], isInstalled: () => onPath('ssh') },
  { name: 'libfaketime', suites: ['fleet'], isInstalled: hasFaketime },
  { name: 'chromium', suites: browsers, isInstalled: hasChromium },
  { name: 'fonts-dejavu-core', suites: browsers, isInstalled: hasFont },
];

/** Services are often outside a user's PATH. */
const serviceFolders = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

function onPath(program: string): boolean {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...serviceFolders];
  return folders.some((folder) => folder !== '' && existsSync(join(folder, program)));
}

function hasFaketime(): boolean {
  const libraries = existsSync('/usr/lib') ? readdirSync('/usr/lib') : [];
  return libraries.some((name) => existsSync(`/usr/lib/${name}/faketime/libfaketime.so.1`));
}

function hasChromium(): boolean {
  const named = process.env['CHROMIUM'] ?? '';
  return existsSync(named === '' ? '/usr/bin/chromium' : named);
}

function hasFont(): boolean {
  return process.platform !== 'linux' || existsSync('/usr/share/fonts/truetype/dejavu');
}

export interface SetUpFacts {
  /** Names of packages. */
  readonly missing: readonly string[];
  /** Debian, Ubuntu and others with apt-get. */
  readonly hasApt: boolean;
  readonly isRoot: boolean;
  /** sudo works without a password. */
  readonly hasSudo: boolean;
}

export type SetUpStep =
  | { readonly kind: 'ready' }
  /** Commands, each an argument array, to run in order. */
  | { readonly kind: 'install'; readonly commands: readonly (readonly string[])[] }
  /** Nothing may be installed; the sentence names one command for the user. */
  | { readonly kind: 'refuse'; readonly message: string };

export function decideSetUp({ missing, hasApt, isRoot, hasSudo }: SetUpFacts): SetUpStep {
  if (missing.length === 0) return { kind: 'ready' };
  const install = ['apt-get', 'install', '-y', '--no-install-recommends', ...missing];
  if (hasApt && (isRoot || hasSudo)) {
    const before = isRoot ? [] : ['sudo', '-n'];
    return {
      kind: 'install',
      commands: [
        [...before, 'apt-get', 'update', '-qq'],
        [...before, ...install],
      ],
    };
  }
  const remedy = hasApt
    ? `Run as root: apt-get update && ${install.join(' ')}`
    : `Install what this system calls these Debian packages: ${missing.join(' ')}`;
  return {
    kind: 'refuse',
    message: `The tests need programs that are not installed (${missing.join(', ')}). ${remedy}`,
  };
}

/**
 * Installs the packages that these suites need, if that is allowed here. Returns null if all are
 * installed, otherwise a sentence with the remedy.
 */
export function setUpSystem(suites: ReadonlySet<string>): string | null {
  const step = decideSetUp({
    missing: missingPackages(suites),
    hasApt: onPath('apt-get'),
    isRoot: process.getuid?.() === 0,
    hasSudo: onPath('sudo') && spawnSync('sudo', ['-n', 'true']).status === 0,
  });
  if (step.kind === 'ready') return null;
  if (step.kind === 'refuse') return step.message;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const [program = '', ...args] of step.commands) {
    console.log([program, ...args].join(' '));
    const { status, stderr } = spawnSync(program, args, { env, encoding: 'utf8' });
    if (status !== 0) return `${program} ended with exit code ${status}: ${stderr.trim()}`;
  }
  const left = missingPackages(suites);
  return left.length === 0 ? null : `Installed, but not found: ${left.join(', ')}.`;
}

function missingPackages(suites: ReadonlySet<string>): readonly string[] {
  return systemPackages
    .filter((one) => one.suites.some((suite) => suites.has(suite)) && !one.isInstalled())
    .map(({ name }) => name);
}
