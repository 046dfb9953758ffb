// `npm run package`: builds the extension as VSIX files, one for each platform, in `out/vsix/`.
// Without arguments, it builds for this platform; `--all` builds for all supported platforms,
// `--target <name>` for one of them. `--pictures <https address>` sets the address of the README's
// pictures, and `--repository <https address>` the address of the sources, if it differs from
// package.json's. It rebuilds everything without source maps in a separate folder, so that a build
// in use is not changed.

import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createVSIX } from '@vscode/vsce';
import { ownTarget } from '../bin/system.mjs';
import { writeSupply } from './supply.mjs';

const targets = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'darwin-x64', 'win32-x64'];
/** Programs that only one platform starts. */
const startedOn = { 'network-gate.cjs': 'linux' };
const bytesMax = 5 * 1024 * 1024;

const root = resolve(import.meta.dirname, '..');
const stage = join(root, 'out', 'package');
const outputs = join(root, 'out', 'vsix');

const { values } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    target: { type: 'string' },
    pictures: { type: 'string' },
    repository: { type: 'string' },
  },
});

function wantedTargets() {
  if (values.all) return targets;
  const target = values.target ?? ownTarget;
  if (!targets.includes(target)) throw new Error(`${target} is none of ${targets.join(', ')}.`);
  return [target];
}

/**
 * Leaves developer-only parts out of the package: scripts, dependencies (which are bundled), the
 * command's entry.
 */
function manifest() {
  const all = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const left = ['bin', 'files', 'publishConfig', 'scripts', 'allowScripts', 'devDependencies'];
  const kept = Object.entries(all).filter(
    ([key]) => ![...left, 'optionalDependencies'].includes(key),
  );
  return { ...Object.fromEntries(kept), ...places() };
}

/** The addresses on the marketplace page, if they differ from the manifest's. */
function places() {
  const url = values.repository?.replace(/\/$/, '');
  if (url === undefined) return {};
  return {
    repository: { type: 'git', url: `${url}.git` },
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
  };
}

/** VS Code shows only pictures from the web, so pictures without an address are omitted. */
function readme() {
  const text = readFileSync(join(root, 'extension', 'marketplace.md'), 'utf8');
  const { pictures } = values;
  if (pictures === undefined) return text.replace(/^!\[.*\n\n/gm, '');
  return text.replaceAll('](../docs/images/', `](${pictures.replace(/\/$/, '')}/`);
}

/** The walkthrough uses the pictures of the documents, which the tests create. */
function copyWalkthroughPictures() {
  const folder = join(stage, 'media', 'walkthrough');
  for (const page of readdirSync(folder).filter((name) => name.endsWith('.md'))) {
    const text = readFileSync(join(folder, page), 'utf8');
    for (const [, name] of text.matchAll(/^!\[[^\]]+\]\(\.\/([\w-]+\.png)\)$/gm)) {
      cpSync(join(root, 'docs', 'images', name), join(folder, name));
    }
  }
}

function makeStage() {
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(stage, { recursive: true });
  const config = join(root, 'esbuild.config.mjs');
  execFileSync(process.execPath, [config, '--production', `--outdir=${join(stage, 'dist')}`], {
    cwd: root,
    stdio: 'inherit',
  });
  rmSync(join(stage, 'dist', 'demo.cjs'), { force: true });
  const count = writeSupply(root, join(stage, 'dist'));
  console.log(`Notices and bill of materials of ${count} bundled packages.`);
  for (const name of ['CHANGELOG.md', 'LICENSE', 'media', '.vscodeignore']) {
    cpSync(join(root, name), join(stage, name), { recursive: true });
  }
  copyWalkthroughPictures();
  writeFileSync(join(stage, 'README.md'), readme());
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
}

/** Programs that only one platform starts are only in that platform's packages. */
function stageFor(target) {
  for (const [name, { platform, bytes }] of ownPrograms) {
    const path = join(stage, 'dist', name);
    if (target.startsWith(platform)) writeFileSync(path, bytes);
    else rmSync(path, { force: true });
  }
}

makeStage();
const ownPrograms = Object.entries(startedOn).map(([name, platform]) => [
  name,
  { platform, bytes: readFileSync(join(stage, 'dist', name)) },
]);
mkdirSync(outputs, { recursive: true });
const { version } = manifest();
for (const target of wantedTargets()) {
  const packagePath = join(outputs, `drover-${target}-${version}.vsix`);
  stageFor(target);
  await createVSIX({
    cwd: stage,
    target,
    packagePath,
    dependencies: false,
    rewriteRelativeLinks: false,
  });
  const { size } = statSync(packagePath);
  if (size > bytesMax) throw new Error(`${packagePath} has ${size} bytes, more than ${bytesMax}.`);
  console.log(`${packagePath} (${(size / 1024 / 1024).toFixed(2)} MB)`);
}
