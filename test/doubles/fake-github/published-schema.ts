// GitHub's published OpenAPI description, which checks requests to the fake and its answers: a fake
// that differs from the real interface proves nothing.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema?: { readonly type?: string };
}

interface Operation {
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<
    Record<string, { readonly $ref?: string; readonly content?: Readonly<Record<string, unknown>> }>
  >;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, { readonly content?: Record<string, unknown> }>>;
  };
}

/** Answers that any path can give: not signed in, not allowed, too many requests. */
const ofTheHost: ReadonlySet<number> = new Set([301, 304, 307, 401, 403, 404, 429]);

/** `api.github.com`, or a GitHub Enterprise version such as `ghes-3.17`. */
export type Release = 'api.github.com' | 'ghes-3.16' | 'ghes-3.17' | 'ghes-3.18' | 'ghes-3.19';

export class PublishedSchema {
  readonly #description: Description;
  readonly #ajv: Ajv.default;
  /** Tests request the same few repeatedly. */
  readonly #paths = new Map<string, string | null>();

  constructor(release: Release) {
    const require = createRequire(new URL('../../forge/schemas/package.json', import.meta.url));
    // Later packages omit the servers that GitHub no longer supports.
    const name = release === 'ghes-3.16' ? '@octokit/openapi-ghes-3.16' : '@octokit/openapi';
    const file = require.resolve(`${name}/generated/${release}.json`);
    this.#description = JSON.parse(readFileSync(file, 'utf8'), withNull) as Description;
    this.#ajv = new Ajv.default({ strict: false, allErrors: true, logger: false });
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(this.#description as object, 'github');
  }

  /**
   * The path as the published description spells it. Returns null if this release does not have it.
   */
  pathOf(method: string, pathname: string): string | null {
    const key = `${method} ${pathname}`;
    const known = this.#paths.get(key);
    if (known !== undefined) return known;
    const found = this.#findPath(method, pathname);
    this.#paths.set(key, found);
    return found;
  }

  #findPath(method: string, pathname: string): string | null {
    const parts = pathname.split('/');
    const found = Object.keys(this.#description.paths).filter((path) => {
      const own = path.split('/');
      return (
        own.length === parts.length &&
        own.every((part, index) => part.startsWith('{') || part === parts[index]) &&
        this.#description.paths[path]?.[method.toLowerCase()] !== undefined
      );
    });
    // A literal part matches better than a parameter.
    return found.toSorted((a, b) => a.split('{').length - b.split('{').length)[0] ?? null;
  }

  /** The violations of a request according to the description; empty if there are none. */
  faultsOfRequest(method: string, url: URL): readonly string[] {
    const path = this.pathOf(method, url.pathname);
    if (path === null) return [`${method} ${url.pathname} does not exist`];
    const known = this.#parametersOf(this.#operation(method, path));
    const faults: string[] = [];
    for (const [name, value] of url.searchParams) {
      const parameter = known.find((one) => one.in === 'query' && one.name === name);
      if (parameter === undefined) faults.push(`${path} has no parameter ${name}`);
      else if (parameter.schema?.type === 'integer' && !/^\d+$/u.test(value))
        faults.push(`${path}: ${name} must be a number, not ${value}`);
    }
    for (const { name, required, in: place } of known) {
      if (place === 'query' && required === true && !url.searchParams.has(name))
        faults.push(`${path} needs the parameter ${name}`);
    }
    return faults;
  }

  faultsOfBody(method: string, pathname: string, body: unknown): readonly string[] {
    const path = this.pathOf(method, pathname);
    if (path === null || this.#operation(method, path).requestBody === undefined) return [];
    const own = `github#/paths/${pointer(path)}/${method.toLowerCase()}/requestBody`;
    const validate = this.#ajv.getSchema(`${own}/content/${pointer('application/json')}/schema`);
    if (validate === undefined || validate(body) === true) return [];
    return (validate.errors ?? []).map((error) => `${path}${error.instancePath} ${error.message}`);
  }

  /** The smallest value that the description allows. */
  sample(name: string): unknown {
    return this.#smallest({ $ref: `#/components/schemas/${name}` }, 0);
  }

  #smallest(schema: Schema, depth: number): unknown {
    if (schema.$ref !== undefined) return this.#smallest(this.#named(schema.$ref), depth + 1);
    if (schema.enum !== undefined) return schema.enum[0];
    const either = schema.anyOf ?? schema.oneOf;
    if (either !== undefined && schema.properties === undefined)
      return either.some(({ type }) => type === 'null')
        ? null
        : this.#smallest(either[0] ?? {}, depth);
    const all = (schema.allOf ?? []).map((part) => this.#smallest(part, depth) as object);
    const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['object']);
    if (types.includes('null')) return null;
    switch (types[0]) {
      case 'string':
        return stringFor(schema.format);
      case 'integer':
      case 'number':
        return 1;
      case 'boolean':
        return false;
      case 'array':
        return [];
      default: {
        const own = (schema.required ?? []).map((key) => {
          return [key, this.#smallest(schema.properties?.[key] ?? {}, depth)];
        });
        return Object.assign({}, ...all, Object.fromEntries(own)) as object;
      }
    }
  }

  #named(ref: string): Schema {
    const [, , kind = '', name = ''] = ref.split('/');
    const { components } = this.#description as unknown as {
      readonly components: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
    };
    return components[kind]?.[name] ?? {};
  }

  faultsOfAnswer(
    method: string,
    pathname: string,
    status: number,
    body: unknown,
  ): readonly string[] {
    const path = this.pathOf(method, pathname);
    if (path === null) return status === 404 ? [] : [`${pathname} does not exist`];
    const said = this.#operation(method, path).responses[String(status)];
    if (said === undefined) return ofTheHost.has(status) ? [] : [`${path} never answers ${status}`];
    const own = `github#/paths/${pointer(path)}/${method.toLowerCase()}/responses/${status}`;
    if (said.$ref === undefined && said.content === undefined) return [];
    const base = said.$ref === undefined ? own : `github${said.$ref}`;
    const validate = this.#ajv.getSchema(`${base}/content/${pointer('application/json')}/schema`);
    if (status === 304) return [];
    if (validate === undefined) return [`${path} has no schema for ${status}`];
    if (validate(body) === true) return [];
    return (validate.errors ?? []).map((error) => `${path}${error.instancePath} ${error.message}`);
  }

  #operation(method: string, path: string): Operation {
    const found = this.#description.paths[path]?.[method.toLowerCase()];
    if (found === undefined) throw new Error(`${method} ${path} is not described`);
    return found;
  }

  #parametersOf({ parameters = [] }: Operation): readonly Parameter[] {
    return parameters.map((parameter) => {
      if (!('$ref' in parameter)) return parameter;
      const name = parameter.$ref.replace('#/components/parameters/', '');
      const found = this.#description.components.parameters[name];
      if (found === undefined) throw new Error(`${parameter.$ref} is not described`);
      return found;
    });
  }
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

function stringFor(format: string | undefined): string {
  if (format === 'uri') return 'https://localhost/';
  return format === 'date-time' ? '2026-11-01T12:00:00Z' : 'text';
}

function pointer(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** OpenAPI 3.0 uses `nullable`, and JSON Schema uses a second type. */
function withNull(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('nullable' in value)) return value;
  const { nullable, ...rest } = value as Record<string, unknown>;
  if (nullable !== true) return rest;
  return typeof rest['type'] === 'string' && rest['enum'] === undefined
    ? { ...rest, type: [rest['type'], 'null'] }
    : { anyOf: [rest, { type: 'null' }] };
}
