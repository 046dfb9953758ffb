// Known weaknesses in the packages that users get, as far as the registry answers: `npm run
// advisories` fails on high and critical ones, and says so where nothing could be checked.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * @param {string} text what `npm audit --json` has printed
 * @returns {{ readonly ok: boolean; readonly message: string }}
 */
export function verdictOf(text) {
  const { metadata, vulnerabilities = {}, message, error } = parsed(text);
  if (metadata === undefined) {
    const why = String(message ?? error?.summary ?? 'it gave no reason').trim();
    return {
      ok: true,
      message: `Advisories were not checked: the registry does not answer (${why}).`,
    };
  }
  const grave = Object.values(vulnerabilities).filter(({ severity }) =>
    ['high', 'critical'].includes(severity),
  );
  const names = grave.map(({ name, severity }) => `${name} (${severity})`).join(', ');
  if (grave.length > 0) return { ok: false, message: `Advisories of high severity: ${names}.` };
  const count = metadata.dependencies?.prod ?? metadata.dependencies?.total ?? 0;
  return { ok: true, message: `No advisory of high severity for ${count} packages.` };
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
  const args = ['audit', '--omit=dev', '--json', '--audit-level=none'];
  const { stdout, stderr, error } = spawnSync('npm', args, { encoding: 'utf8', timeout: 60_000 });
  const { ok, message } = verdictOf(stdout || stderr || error?.message || '');
  console.log(message);
  process.exitCode = ok ? 0 : 1;
}
