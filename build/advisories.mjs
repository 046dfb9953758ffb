// Known vulnerabilities in the packages that users get (bundled packages and Node), if the registry
// answers: `npm run advisories` fails on high and critical ones, and says so if it could not check
// anything.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * @param {string} text the output of `npm audit --json`
 * @param {readonly string[]} shipped folders of packages
 * @returns {{ readonly ok: boolean; readonly message: string }}
 */
export function verdictOf(text, shipped) {
  const { metadata, vulnerabilities = {}, message, error } = parsed(text);
  if (metadata === undefined) {
    const why = String(message ?? error?.summary ?? 'it gave no reason').trim();
    return {
      ok: true,
      message: `Advisories were not checked: the registry does not answer (${why}).`,
    };
  }
  const grave = Object.values(vulnerabilities).filter(
    ({ severity, nodes = [] }) =>
      ['high', 'critical'].includes(severity) && nodes.some((folder) => shipped.includes(folder)),
  );
  const names = grave.map(({ name, severity }) => `${name} (${severity})`).join(', ');
  if (grave.length > 0) return { ok: false, message: `Advisories of high severity: ${names}.` };
  return { ok: true, message: `No advisory of high severity for ${shipped.length} packages.` };
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { message: text.split('\n', 1)[0] };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const read = (name) => JSON.parse(readFileSync(`${root}${name}`, 'utf8'));
  const nodes = Object.keys(read('package.json').optionalDependencies);
  const bundled = read('dist/bundled-packages.json');
  const shipped = [...bundled, ...nodes.map((name) => `node_modules/${name}`)];
  const args = ['audit', '--json', '--audit-level=none'];
  const { stdout, stderr, error } = spawnSync('npm', args, { encoding: 'utf8', timeout: 60_000 });
  const { ok, message } = verdictOf(stdout || stderr || error?.message || '', shipped);
  console.log(message);
  process.exitCode = ok ? 0 : 1;
}
