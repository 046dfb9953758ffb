// Bundles the programs for shipping and for benchmarks. They are split into chunks, so that a
// command reads and runs only the code that it needs, and are CommonJS, which Node starts faster
// than ES modules and stores in its compile cache.

import { build, transform } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { missingPackages, optionalPackages } from './bundled-packages.mjs';
import { isChunk, partOf, partsOf, requireFromParts } from './bundled-parts.mjs';

const root = join(import.meta.dirname, '..');

/**
 * The compiled code is beside the bundles, so that it is removed and trusted together with
 * them.
 * @param {string} name of the program
 */
const useCompiledCode = (name) =>
  `require("./load-part.cjs").begin("${name}", ${name === longProgram});\n`;

/** The program does many things before it exits. */
const longProgram = 'backend';

/** Imports of this module in the sources are redirected to the bundle. */
const moduleUrl = "const droverModuleUrl = require('node:url').pathToFileURL(__filename).href;\n";

/** The names and sources of the programs that a `drover` command needs at run time. */
export const commandPrograms = {
  'cli-main': 'server/cli/main.ts',
  backend: 'server/main/backend-main.ts',
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
      { name: 'crypto-late', setup: loadCryptoLate },
      { name: 'as-commonjs', setup: writeAsCommonJs },
      { name: 'schemas-apart', setup: bundleSchemasApart },
    ],
  };
}

/**
 * One small, self-contained file each, for hosts with an older Node and nothing else of Drover.
 * @param {Record<string, string>} entryPoints names of the programs and their sources
 * @param {string} outdir
 * @returns {import('esbuild').BuildOptions}
 */
export function copiedBundles(entryPoints, outdir) {
  return {
    entryPoints,
    outdir,
    bundle: true,
    outExtension: { '.js': '.cjs' },
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    minify: true,
    sourcemap: false,
  };
}

const builtinImport =
  /^var (import_node_\w+) = ((?:__toESM\()?require\("node:[\w/]+"\)(?:, 1)?\)?);$/gm;

/**
 * Loads Node's own modules on first use, because a command never uses half of its imports.
 * @param {string} code as esbuild writes it
 */
function loadBuiltinsLate(code) {
  const names = new Map([...code.matchAll(builtinImport)].map(([, name, load]) => [name, load]));
  if (names.size === 0) return code;
  const used = new RegExp(`\\b(${[...names.keys()].join('|')})\\.`, 'g');
  return (
    code
      .replaceAll(builtinImport, 'var $1_, $1 = () => $1_ ??= $2;')
      // The parentheses let it follow `new`.
      .replaceAll(used, '($1()).')
  );
}

/**
 * The transport's package needs random bytes for names of pipes, which are never created here.
 * Node's module for them takes 4 MB and several milliseconds of each command that contacts a
 * backend.
 * @param {import('esbuild').PluginBuild} programs
 */
function loadCryptoLate(programs) {
  const namespace = 'crypto-late';
  programs.onResolve({ filter: /^crypto$/ }, ({ importer }) => {
    return /[\\/]vscode-jsonrpc[\\/]/.test(importer) ? { path: 'crypto', namespace } : null;
  });
  programs.onLoad({ filter: /./, namespace }, () => {
    return {
      contents: "exports.randomBytes = (size) => require('node:crypto').randomBytes(size);",
    };
  });
}

/** @param {string} stamp of the parts */
async function partLoader(stamp) {
  const text = readFileSync(join(root, 'bin', 'load-part.mjs'), 'utf8');
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    define: {
      'import.meta.url': '__filename',
      'import.meta.dirname': '__dirname',
      'process.env.DROVER_BUILD_STAMP': JSON.stringify(stamp),
    },
  });
  return { code, map: JSON.stringify({ version: 3, sections: [] }) };
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

const schemas = 'server/protocol/requests/read.ts';
const schemasBundle = 'read-params.cjs';

/**
 * The request schemas get their own bundle: in a chunk, they would load all of zod that any
 * program uses, and a command that reads one request would start a tenth slower.
 * @param {import('esbuild').PluginBuild} programs
 */
function bundleSchemasApart(programs) {
  const { outdir = '.', minify = false } = programs.initialOptions;
  programs.onResolve({ filter: /\/requests\/read\.ts$/ }, () => {
    return { path: `./${schemasBundle}`, external: true };
  });
  programs.onEnd(async () => {
    await build({
      entryPoints: [join(root, schemas)],
      outfile: join(outdir, schemasBundle),
      bundle: true,
      platform: 'node',
      target: 'node24',
      format: 'cjs',
      minify,
    });
  });
}

/**
 * esbuild splits only ES modules, so each chunk is converted to CommonJS afterwards, import by
 * import.
 */
function writeAsCommonJs(build) {
  const { outdir = '.' } = build.initialOptions;
  // The second step uses an inline source map.
  const hasMaps = Boolean(build.initialOptions.sourcemap);
  if (hasMaps) build.initialOptions.sourcemap = 'inline';
  build.onEnd(async ({ outputFiles = [], metafile }) => {
    mkdirSync(outdir, { recursive: true });
    const write = (name, { code, map }) => {
      const end = hasMaps ? `//# sourceMappingURL=${name}.map\n` : '';
      writeFileSync(join(outdir, name), `${code}${end}`);
      if (hasMaps) writeFileSync(join(outdir, `${name}.map`), map);
    };
    const parts = partsOf(metafile?.outputs ?? {});
    /** @type {Map<string, { name: string, code: string, map: string }[]>} */
    const gathered = new Map();
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
      const part = parts.get(name) ?? name;
      const own = requireFromParts(loadBuiltinsLate(code), part, parts);
      const top = `${isChunk(name) ? '' : useCompiledCode(basename(name, '.cjs'))}${code.includes('droverModuleUrl') ? moduleUrl : ''}`;
      const chunk = { name, code: `${top}${own}`, map };
      if (part === name) write(name, chunk);
      else gathered.set(part, [...(gathered.get(part) ?? []), chunk]);
    }
    const stamp = createHash('sha256');
    for (const [part, chunks] of gathered) {
      const whole = partOf(chunks);
      stamp.update(`${part}\n${whole.code}`);
      write(part, whole);
    }
    write('load-part.cjs', await partLoader(stamp.digest('hex')));
  });
}
