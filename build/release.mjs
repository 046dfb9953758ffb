// Steps of a release: `check` (whether this commit can be released), `build` (all artifacts in
// `out/release`), `publish marketplace|open-vsx|npm|github`, and `dry` (all of it without
// publishing). Without `DROVER_RELEASE=publish`, everything is a dry run that prints problems and
// commands, and sends nothing. RELEASING.md contains the checklist.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(import.meta.dirname, '..');
const outputs = join(root, 'out', 'release');
const isDry = process.env.DROVER_RELEASE !== 'publish';
const openVsxClient = 'ovsx@1.4.0';

/**
 * Returns the lines of a version in the changelog, or null if it has none.
 * @param {string} changelog
 * @param {string} version
 */
export function notesOf(changelog, version) {
  const heading = new RegExp(`^## ${version.replaceAll('.', '\\.')}(?: \\(.*\\))?$`, 'm');
  const found = heading.exec(changelog);
  if (found === null) return null;
  const rest = changelog.slice(found.index + found[0].length);
  const end = rest.search(/^## /m);
  return (end === -1 ? rest : rest.slice(0, end)).trim();
}

/**
 * Returns the reasons why this commit cannot be released, or an empty list.
 * @param {{
 *   version: string, changelog: string, tag: string | null, changed: string,
 *   home: string, publishingFrom: string | null,
 * }} facts
 */
export function problemsOf({ version, changelog, tag, changed, home, publishingFrom }) {
  const problems = [];
  if (tag !== `v${version}`) {
    problems.push(`The tag is ${tag ?? 'missing'}, but package.json has version ${version}.`);
  }
  if ((notesOf(changelog, version) ?? '') === '') {
    problems.push(`CHANGELOG.md has no section "## ${version}".`);
  } else if (!new RegExp(`^## ${version} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, 'm').test(changelog)) {
    problems.push(`The heading of ${version} in CHANGELOG.md has no date.`);
  }
  if (changed !== '') problems.push(`The checkout has changes:\n${changed}`);
  if (publishingFrom !== null && home !== `git+https://github.com/${publishingFrom}.git`) {
    problems.push(`package.json names the repository ${home}, but this is ${publishingFrom}.`);
  }
  return problems;
}

function read(name) {
  return readFileSync(join(root, name), 'utf8');
}

function run(program, args, options = {}) {
  console.log(`$ ${[program, ...args].join(' ')}`);
  execFileSync(program, args, { cwd: root, stdio: 'inherit', ...options });
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}

function manifest() {
  return JSON.parse(read('package.json'));
}

function tagHere() {
  const tags = git('tag', '--points-at', 'HEAD').split('\n');
  return tags.find((tag) => /^v\d/.test(tag)) ?? null;
}

function check() {
  const { version, repository } = manifest();
  const problems = problemsOf({
    version,
    changelog: read('CHANGELOG.md'),
    tag: tagHere(),
    changed: git('status', '--porcelain'),
    home: repository.url,
    publishingFrom: process.env.GITHUB_REPOSITORY ?? null,
  });
  for (const problem of problems) {
    console.log(`${isDry ? 'Would stop a release' : 'Error'}: ${problem}`);
  }
  if (problems.length === 0) console.log(`Drover ${version} can be released.`);
  else if (!isDry) process.exit(1);
}

function build() {
  const { version } = manifest();
  rmSync(outputs, { recursive: true, force: true });
  mkdirSync(outputs, { recursive: true });
  run('npm', ['run', '-s', 'package', '--', '--all']);
  const packages = join(root, 'out', 'vsix');
  for (const name of readdirSync(packages).filter((name) => name.endsWith(`-${version}.vsix`))) {
    copyFileSync(join(packages, name), join(outputs, name));
  }
  run('npm', ['pack', '--loglevel=error', `--pack-destination=${outputs}`]);
  copyFileSync(join(root, 'lib', 'sbom.cdx.json'), join(outputs, 'drover-command.sbom.cdx.json'));
  const staged = join(root, 'out', 'package', 'dist', 'sbom.cdx.json');
  copyFileSync(staged, join(outputs, 'drover-vscode.sbom.cdx.json'));
  writeFileSync(join(outputs, 'notes.md'), `${notesOf(read('CHANGELOG.md'), version) ?? ''}\n`);
  const sums = readdirSync(outputs).map((name) => {
    const digest = createHash('sha256').update(readFileSync(join(outputs, name)));
    return `${digest.digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(outputs, 'SHA256SUMS'), sums.join(''));
  console.log(sums.join(''));
}

/** Returns the files in `out/release` with one of these endings. */
function built(...endings) {
  const names = existsSync(outputs) ? readdirSync(outputs).toSorted() : [];
  const found = names.filter((name) => endings.some((ending) => name.endsWith(ending)));
  if (found.length === 0) throw new Error('out/release is empty. Run "npm run release:build".');
  return found.map((name) => join('out', 'release', name));
}

/** @type {Record<string, () => (readonly [string, readonly string[]])[]>} */
const places = {
  marketplace: () => [
    [
      join('node_modules', '.bin', 'vsce'),
      ['publish', '--skip-duplicate', '--packagePath', ...built('.vsix')],
    ],
  ],
  'open-vsx': () => [
    [
      'npx',
      ['--yes', openVsxClient, 'publish', '--skip-duplicate', '--packagePath', ...built('.vsix')],
    ],
  ],
  npm: () => [['npm', ['publish', ...built('.tgz'), '--access', 'public', '--provenance']]],
  github: () => {
    const tag = `v${manifest().version}`;
    const files = built('.vsix', '.tgz', '.json', 'SHA256SUMS');
    const notes = ['--notes-file', join('out', 'release', 'notes.md')];
    return [['gh', ['release', 'create', tag, '--verify-tag', '--title', tag, ...notes, ...files]]];
  },
};

function publish(place) {
  const commands = places[place]?.();
  if (commands === undefined) {
    throw new Error(`${place} is none of ${Object.keys(places).join(', ')}.`);
  }
  for (const [program, args] of commands) {
    if (isDry) console.log(`Would run: ${[program, ...args].join(' ')}`);
    else run(program, args);
  }
}

function dry() {
  if (!isDry) throw new Error('A dry run publishes nothing: unset DROVER_RELEASE.');
  build();
  for (const place of Object.keys(places)) publish(place);
  // This comes last, so that its answer is the last line and a build that changes the checkout is
  // reported.
  check();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [step = '', place = ''] = process.argv.slice(2);
  const steps = { check, build, publish: () => publish(place), dry };
  if (!Object.hasOwn(steps, step)) {
    throw new Error(`${step} is none of ${Object.keys(steps).join(', ')}.`);
  }
  steps[step]();
}
