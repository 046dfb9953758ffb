// Bundles what is shipped: the programs (ES modules for Node 24), the extension (CommonJS for VS Code's extension host) and
// the webviews (ES modules for VS Code's Chromium). `--watch` keeps them up to date, `--production` leaves out source maps,
// `--outdir=<folder>` puts them elsewhere.
import { build, context } from 'esbuild';
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { missingPackages, optionalPackages } from './bundled-packages.mjs';

const isProduction = process.argv.includes('--production');
const isWatching = process.argv.includes('--watch');
const outdir =
  process.argv.find((argument) => argument.startsWith('--outdir='))?.slice('--outdir='.length) ??
  'dist';

const programs = {
  cli: 'server/cli/main.ts',
  backend: 'server/main/backend-main.ts',
  helper: 'server/main/helper-main.ts',
  mcp: 'server/main/mcp-main.ts',
  'demo-agent': 'server/agents/demo/main.ts',
  demo: 'server/main/demo.ts',
};
/** Two bundles, so that activation reads little; the second one is asked for by the first. */
const extension = { extension: 'extension/main.ts', 'extension-work': 'extension/work/main.ts' };
const webviews = Object.fromEntries(
  ['tree', 'inbox', 'stream', 'grid', 'board'].map((name) => [name, `webview/${name}/main.ts`]),
);

/** @param {Record<string, string>} entries */
const existing = (entries) =>
  Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(file)));

/** @param {import('esbuild').PluginBuild} build */
function keepSecondBundleApart(build) {
  build.onResolve({ filter: /\/work\/main\.ts$/ }, ({ kind }) => {
    return kind === 'entry-point' ? null : { path: './extension-work.cjs', external: true };
  });
}

/** @param {import('esbuild').PluginBuild} build */
function refuseMissingPackages(build) {
  build.onEnd(({ metafile }) => {
    const missing = metafile === undefined ? [] : missingPackages(metafile);
    return {
      errors: missing.map((name) => ({ text: `${name} is needed, but left out of the bundle.` })),
    };
  });
}

const shared = { bundle: true, sourcemap: !isProduction, logLevel: 'warning' };

/** @type {import('esbuild').BuildOptions[]} */
const bundles = [
  {
    ...shared,
    entryPoints: existing(programs),
    outdir,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    splitting: true,
    external: optionalPackages,
    metafile: true,
    plugins: [{ name: 'nothing-missing', setup: refuseMissingPackages }],
    chunkNames: 'chunk-[hash]',
    // Some dependencies are CommonJS and call require() for Node's own modules.
    banner: {
      js: "import { createRequire as droverCreateRequire } from 'node:module'; const require = droverCreateRequire(import.meta.url);",
    },
  },
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
    // What the server's modules know of their own place is asked of the bundle instead.
    define: { 'import.meta.url': 'droverModuleUrl', 'import.meta.dirname': '__dirname' },
    banner: {
      js: "const droverModuleUrl = require('node:url').pathToFileURL(__filename).href;",
    },
  },
  {
    ...shared,
    entryPoints: existing(webviews),
    outdir: `${outdir}/webview`,
    platform: 'browser',
    target: 'es2024',
    format: 'esm',
    minify: isProduction,
  },
];

rmSync(outdir, { recursive: true, force: true });
for (const options of bundles.filter(({ entryPoints }) => Object.keys(entryPoints).length > 0)) {
  if (isWatching) await (await context(options)).watch();
  else await build(options);
}
const icons = 'node_modules/@vscode/codicons/dist';
mkdirSync(`${outdir}/webview`, { recursive: true });
for (const file of ['codicon.css', 'codicon.ttf']) {
  copyFileSync(`${icons}/${file}`, `${outdir}/webview/${file}`);
}
