// The packages that the program bundles omit, and the check that the bundles do not need them.

import { isBuiltin } from 'node:module';

/** DBOS and pg look for these at run time, and work without them. */
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
 * Returns the packages that a module of the bundle requires but that are not in the bundle: the
 * shipped programs have no `node_modules` beside them.
 * @param {import('esbuild').Metafile} metafile
 * @returns {string[]}
 */
export function missingPackages({ outputs }) {
  const imports = Object.values(outputs).flatMap((output) => output.imports);
  const missing = imports.filter(({ external, kind, path }) => {
    // A file beside the bundle is built with it.
    const isPackage = !isOfNode(path) && !path.startsWith('./');
    return external === true && kind === 'import-statement' && isPackage;
  });
  return [...new Set(missing.map(({ path }) => path))];
}

/**
 * Returns the folders of the bundled packages, relative to the project's root and sorted.
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

/**
 * The Node that builds can be older than the Node that runs the programs, and not know all of its
 * modules.
 */
function isOfNode(path) {
  return path.startsWith('node:') || isBuiltin(path);
}
