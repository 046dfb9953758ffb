// Combines the modules that each start of a program loads into a few files: opening and checking a
// hundred small chunks costs more than running them. Each chunk stays a separate function, which
// runs on its first request (bin/load-part.mjs).

import { basename } from 'node:path';

/**
 * Sources that are loaded together, with all their static imports; each program counts as one.
 * Chunks that the same sources need share one file, so that nothing reads code that it does not
 * use.
 * @type {Record<string, readonly string[]>}
 */
const loadedTogether = {
  command: ['server/cli/run-command.ts', 'server/cli/process-surroundings.ts'],
  client: [
    'server/cli/commands/status.ts',
    'server/cli/commands/run.ts',
    'server/cli/commands/plan.ts',
    'server/cli/render/status-text.ts',
    'server/main/connect.ts',
    'server/main/wire.ts',
    'server/main/start-backend.ts',
    'server/project/live-settings.ts',
    'server/project/accepted-settings.ts',
    'server/config/toml-file.ts',
  ],
  // Reading the plan when no backend answers; a command that waits for a run never opens the
  // database.
  local: [
    'server/main/data-project.ts',
    'server/main/data-handlers.ts',
    'server/rpc/transport/local.ts',
  ],
  secrets: ['server/agents/secrets/content.ts', 'server/agents/secrets/key-formats.ts'],
};

/** `--version` needs too little code for a large file. */
const alone = 'server/cli/main.ts';

/**
 * Returns the file of each chunk that shares a file.
 * @param {import('esbuild').Metafile['outputs']} outputs
 * @returns {Map<string, string>}
 */
export function partsOf(outputs) {
  /** @type {Map<string, string>} */
  const paths = new Map();
  for (const [path, { entryPoint }] of Object.entries(outputs)) {
    if (entryPoint !== undefined) paths.set(entryPoint, path);
  }
  const programs = [...paths].filter(([, path]) => !isChunk(path));
  const groups = [
    ...programs.map(([source, path]) => [basename(path, '.cjs'), [source]]),
    ...Object.entries(loadedTogether),
  ];
  /** @type {Map<string, string[]>} */
  const users = new Map();
  for (const [name, sources] of groups) {
    const roots = sources.flatMap((source) => paths.get(source) ?? []);
    for (const path of closureOf(roots, outputs)) {
      users.set(path, [...(users.get(path) ?? []), name]);
    }
  }
  const apart = closureOf([paths.get(alone) ?? ''], outputs);
  const shared = [...users].filter(([path]) => isChunk(path) && !apart.has(path));
  return new Map(shared.map(([path, names]) => [basename(path), partName(names)]));
}

/**
 * Reading the plan also loads the code of every command and the client's parts; everything else is
 * separate. Code that every command shares with the backend is one file for a remote attempt too: a
 * few large files cost a command less than the unused bytes cost the attempt.
 */
function partName(names) {
  const [isClient, isCommand] = [names.includes('client'), names.includes('command')];
  const joined = [
    ...(isClient || isCommand ? ['local'] : []),
    ...(isClient && isCommand ? ['remote-attempt'] : []),
  ];
  const apart = names.filter((name) => !joined.includes(name));
  return `part-${apart.includes('local') ? 'local' : apart.join('-')}.cjs`;
}

/** A program's own file is started by name. */
export function isChunk(path) {
  return /^chunk-[A-Z0-9]+\.cjs$/.test(basename(path));
}

/** These outputs and all their static imports. */
function closureOf(roots, outputs) {
  const found = new Set(roots.filter((path) => path in outputs));
  for (const path of found) {
    for (const { kind, path: imported } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && imported in outputs) found.add(imported);
    }
  }
  return found;
}

const chunkRequire = /require\("\.\/(chunk-[A-Z0-9]+\.cjs)"\)/g;
const wrappedRequire = /__toESM\((require\("\.\/chunk-[A-Z0-9]+\.cjs"\))\)/g;
/** Getters of getters are not needed, because the inner ones suffice. */
const namespaceCopy = /^module\.exports = __toCommonJS\((\w+)\);$/m;

/**
 * Requests chunks from their file.
 * @param {string} code of a chunk or a program
 * @param {string} own the file of the code
 * @param {ReadonlyMap<string, string>} parts
 */
export function requireFromParts(code, own, parts) {
  return code.replaceAll(wrappedRequire, '$1').replaceAll(chunkRequire, (found, chunk) => {
    const part = parts.get(chunk);
    if (part === undefined) return found;
    return part === own
      ? `droverChunk("${chunk}")`
      : `require("./load-part.cjs").chunkOf("${part}", "${chunk}")`;
  });
}

const partTop = `(function (require, __filename, __dirname) {
const droverLoaded = { __proto__: null };
const droverChunk = (name) => {
  const known = droverLoaded[name];
  if (known !== undefined) return known.exports;
  const module = (droverLoaded[name] = { exports: {} });
  droverChunks[name](module);
  return module.exports;
};
const droverChunks = {
`;

/**
 * Combines several chunks into one file, with a combined source map.
 * @param {readonly { name: string, code: string, map: string }[]} chunks
 */
export function partOf(chunks) {
  let code = partTop;
  const sections = [];
  for (const { name, code: own, map } of chunks) {
    code += `"${name}": (module) => {\n`;
    const line = code.split('\n').length - 1;
    if (map !== '') sections.push({ offset: { line, column: 0 }, map: JSON.parse(map) });
    code += `${asciiOf(own.replace(namespaceCopy, 'module.exports = $1;'))}\n},\n`;
  }
  return {
    code: `${code}};\nreturn droverChunk;\n})\n`,
    map: JSON.stringify({ version: 3, sections }),
  };
}

/**
 * The text has one byte per character, in memory too; esbuild leaves other characters in comments
 * and regular expressions unchanged.
 */
function asciiOf(code) {
  return code.replaceAll(/[^\0-\x7F]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
