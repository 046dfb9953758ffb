// GitHub's published GraphQL schema, which checks the queries sent to the fake.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

interface GraphqlModule {
  readonly buildSchema: (text: string, options: object) => object;
  readonly parse: (query: string) => object;
  readonly validate: (schema: object, document: object) => readonly { readonly message: string }[];
}

const installed = new URL('../../forge/schemas/', import.meta.url);
let schema: object | null = null;

export function faultsOfQuery(query: string): readonly string[] {
  const require = createRequire(new URL('package.json', installed));
  const { buildSchema, parse, validate } = require('graphql') as GraphqlModule;
  const file = new URL('node_modules/@octokit/graphql-schema/schema.graphql', installed);
  schema ??= buildSchema(readFileSync(file, 'utf8'), { assumeValid: true });
  return validate(schema, parse(query)).map(({ message }) => `GraphQL: ${message}`);
}
