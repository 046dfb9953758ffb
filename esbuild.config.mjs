// Bundles the shipped code: the programs (CommonJS for Node 24, see build/bundled-programs.mjs),
// the extension (CommonJS for VS Code's extension host) and the webviews (ES modules for VS Code's
// Chromium). `--watch` rebuilds on changes, `--production` omits source maps, `--command` builds
// only the `drover` command, and `--outdir=<folder>` sets another output folder.
import { build, context } from 'esbuild';
import { basename } from 'node:path';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { bundledPackages } from './build/bundled-packages.mjs';
import { commandPrograms, copiedBundles, programBundles } from './build/bundled-programs.mjs';
import { guidePage, guidePages } from './build/guide.mjs';

const isProduction = process.argv.includes('--production');
const isCommandOnly = process.argv.includes('--command');
const isWatching = process.argv.includes('--watch');
const outdir =
  process.argv.find((argument) => argument.startsWith('--outdir='))?.slice('--outdir='.length) ??
  'dist';

const programs = {
  ...commandPrograms,
  'demo-agent': 'server/agents/demo/main.ts',
  ...(isCommandOnly ? {} : { demo: 'server/main/demo.ts' }),
  'remote-attempt': 'server/main/remote-attempt.ts',
};
/**
 * The extension has two bundles, so that activation reads little; the first bundle loads the second
 * one.
 */
const extension = { extension: 'extension/main.ts', 'extension-work': 'extension/work/main.ts' };
/** Self-contained files; the first one runs on a host that has only Node. */
const copied = {
  'worker-runtime': 'server/main/worker-runtime-main.ts',
  // It runs twice around each confined program, so it must be small and start fast.
  'network-gate': 'server/main/network-gate.ts',
};
const webviews = Object.fromEntries(
  ['tree', 'inbox', 'stream', 'grid', 'board', 'run', 'plan', 'worktrees', 'rules'].map((name) => [
    name,
    `webview/${name}/main.ts`,
  ]),
);
/** Code that only a browser loads. */
const browserScripts = {
  'panel-api': 'webview/web/panel-api.ts',
  worker: 'webview/web/worker.ts',
};

/** @param {Record<string, string>} entries */
const existing = (entries) =>
  Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(file)));

/** @param {import('esbuild').PluginBuild} build */
function keepSecondBundleApart(build) {
  build.onResolve({ filter: /\/work\/main\.ts$/ }, ({ kind }) => {
    return kind === 'entry-point' ? null : { path: './extension-work.cjs', external: true };
  });
}

const shared = { bundle: true, metafile: true, sourcemap: !isProduction, logLevel: 'warning' };

const ofPages = {
  ...shared,
  outdir: `${outdir}/webview`,
  platform: 'browser',
  target: 'es2024',
  minify: isProduction,
};
/** @type {import('esbuild').BuildOptions[]} */
const ofCommand = [
  { ...shared, ...programBundles(existing(programs), outdir) },
  { ...shared, ...copiedBundles(existing(copied), outdir) },
  { ...ofPages, format: 'esm', entryPoints: existing({ ...webviews, web: 'webview/web/main.ts' }) },
  { ...ofPages, format: 'iife', entryPoints: existing(browserScripts) },
];
/** @type {import('esbuild').BuildOptions[]} */
const ofExtension = [
  {
    ...shared,
    entryPoints: existing(extension),
    outdir,
    outExtension: { '.js': '.cjs' },
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    external: ['vscode'],
    plugins: [{ name: 'second-bundle', setup: keepSecondBundleApart }],
    supported: { 'dynamic-import': false },
    minify: isProduction,
    // References of the server's modules to their own location are redirected to the bundle.
    define: { 'import.meta.url': 'droverModuleUrl', 'import.meta.dirname': '__dirname' },
    banner: {
      js: "const droverModuleUrl = require('node:url').pathToFileURL(__filename).href;",
    },
  },
];

const bundles = isCommandOnly ? ofCommand : [...ofCommand, ...ofExtension];
const metafiles = [];
rmSync(outdir, { recursive: true, force: true });
for (const options of bundles.filter(({ entryPoints }) => Object.keys(entryPoints).length > 0)) {
  if (isWatching) await (await context(options)).watch();
  else {
    const { metafile } = await build(options);
    if (metafile !== undefined) metafiles.push(metafile);
  }
}
// The command's public name; it is an ES module, like every `.js` file in this project.
copyFileSync('bin/cli.mjs', `${outdir}/cli.js`);
if (!isCommandOnly) {
  mkdirSync(`${outdir}/guide`, { recursive: true });
  for (const name of guidePages) {
    writeFileSync(`${outdir}/guide/${name}`, guidePage(readFileSync(`docs/${name}`, 'utf8')));
  }
}
mkdirSync(`${outdir}/webview`, { recursive: true });
for (const file of [
  'node_modules/@vscode/codicons/dist/codicon.ttf',
  'webview/web/theme.css',
  'webview/web/page.css',
  'media/icon.svg',
]) {
  copyFileSync(file, `${outdir}/webview/${basename(file)}`);
}
// Shipped third-party packages, for their licenses and the bill of materials.
const font = 'node_modules/@vscode/codicons';
const packages = [...new Set([...bundledPackages(metafiles), font])].sort();
if (!isWatching) {
  writeFileSync(`${outdir}/bundled-packages.json`, `${JSON.stringify(packages, null, 1)}\n`);
}
