// The packages that the bundles of the programs leave out, and the check that they leave out
// nothing that they need.

import { isBuiltin } from 'node:module';

/** DBOS and pg look for these at run time, and do without them. */
export const optionalPackages = [
  'winston',
  'winston-transport',
  '@opentelemetry/context-async-hooks',
  '@opentelemetry/core',
  '@opentelemetry/exporter-logs-otlp-proto',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@opentelemetry/sdk-logs',
  '@opentelemetry/sdk-trace-base',
  '@dbos-inc/dbos-enterprise',
  'pg-native',
];

/**
 * Packages that a module of the bundle cannot be loaded without, and that are not in it: the
 * shipped programs have no `node_modules` beside them.
 * @param {import('esbuild').Metafile} metafile
 * @returns {string[]}
 */
export function missingPackages({ outputs }) {
  const imports = Object.values(outputs).flatMap((output) => output.imports);
  const missing = imports.filter(({ external, kind, path }) => {
    // A file beside the bundle is made with it.
    const isPackage = !isOfNode(path) && !path.startsWith('./');
    return external === true && kind === 'import-statement' && isPackage;
  });
  return [...new Set(missing.map(({ path }) => path))];
}

/**
 * Folders of the packages that are in the bundles, from the project's root, sorted.
 * @param {import('esbuild').Metafile[]} metafiles
 * @returns {string[]}
 */
export function bundledPackages(metafiles) {
  const folders = metafiles.flatMap(({ inputs }) =>
    Object.keys(inputs).flatMap((path) => {
      const found = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
      return found === undefined ? [] : [found];
    }),
  );
  return [...new Set(folders)].sort();
}

/** The Node that builds may be older than the one that runs, and not know all of its modules. */
function isOfNode(path) {
  return path.startsWith('node:') || isBuiltin(path);
}
