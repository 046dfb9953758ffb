// How the programs are bundled, for what is shipped and for what is measured: split into chunks, so that a command reads and
// runs only what it needs, and CommonJS, which Node starts faster than ES modules and keeps compiled in its compile cache.

import { transform } from 'esbuild';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { missingPackages, optionalPackages } from './bundled-packages.mjs';

/**
 * The compiled code lies beside the bundles, so that it goes with them, and is trusted as they are. Where that folder can't
 * be written, the programs start without it.
 */
const useCompileCache =
  "require('node:module').enableCompileCache?.(require('node:path').join(__dirname, '.compiled'));\n";

/** What the sources ask of their module is asked of the bundle. */
const moduleUrl = "const droverModuleUrl = require('node:url').pathToFileURL(__filename).href;\n";

/** What a `drover` command needs at run time: their names and sources. */
export const commandPrograms = {
  'cli-main': 'server/cli/main.ts',
  backend: 'server/main/backend-main.ts',
  helper: 'server/main/helper-main.ts',
  mcp: 'server/main/mcp-main.ts',
  'wide-text': 'server/cli/render/wide-text.ts',
};

/**
 * @param {Record<string, string>} entryPoints names of the programs and their sources
 * @param {string} outdir
 * @returns {import('esbuild').BuildOptions}
 */
export function programBundles(entryPoints, outdir) {
  return {
    entryPoints,
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    splitting: true,
    outExtension: { '.js': '.cjs' },
    chunkNames: 'chunk-[hash]',
    external: optionalPackages,
    metafile: true,
    write: false,
    plugins: [
      { name: 'nothing-missing', setup: refuseMissingPackages },
      { name: 'as-commonjs', setup: writeAsCommonJs },
    ],
  };
}

const builtinImport =
  /^var (import_node_\w+) = ((?:__toESM\()?require\("node:[\w/]+"\)(?:, 1)?\)?);$/gm;

/**
 * Node's own modules are loaded when they are first used: half of what a command imports it never comes to.
 * @param {string} code as esbuild writes it
 */
function loadBuiltinsLate(code) {
  const names = new Map([...code.matchAll(builtinImport)].map(([, name, load]) => [name, load]));
  if (names.size === 0) return code;
  const used = new RegExp(`\\b(${[...names.keys()].join('|')})\\.`, 'g');
  return (
    code
      .replaceAll(builtinImport, 'var $1_, $1 = () => $1_ ??= $2;')
      // In brackets, as it may stand after `new`.
      .replaceAll(used, '($1()).')
  );
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

/** esbuild splits ES modules alone; each of them is made CommonJS afterwards, import by import. */
function writeAsCommonJs(build) {
  const { outdir = '.' } = build.initialOptions;
  // A map within the text is taken over by the second step.
  const hasMaps = Boolean(build.initialOptions.sourcemap);
  if (hasMaps) build.initialOptions.sourcemap = 'inline';
  build.onEnd(async ({ outputFiles = [], metafile }) => {
    mkdirSync(outdir, { recursive: true });
    const entries = new Set(
      Object.entries(metafile?.outputs ?? {})
        .filter(([, { entryPoint }]) => entryPoint !== undefined)
        .map(([path]) => basename(path)),
    );
    for (const file of outputFiles) {
      const name = basename(file.path);
      const { code, map } = await transform(file.text, {
        format: 'cjs',
        platform: 'node',
        target: 'node24',
        sourcefile: name,
        sourcemap: hasMaps ? 'external' : false,
        supported: { 'dynamic-import': false },
        define: { 'import.meta.url': 'droverModuleUrl', 'import.meta.dirname': '__dirname' },
        minify: build.initialOptions.minify ?? false,
      });
      const top = `${entries.has(name) ? useCompileCache : ''}${code.includes('droverModuleUrl') ? moduleUrl : ''}`;
      const end = hasMaps ? `//# sourceMappingURL=${name}.map\n` : '';
      writeFileSync(join(dirname(file.path), name), `${top}${loadBuiltinsLate(code)}${end}`);
      if (hasMaps) writeFileSync(`${file.path}.map`, map);
    }
  });
}
