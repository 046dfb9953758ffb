// The possible keys and values at a position in `.drover.toml`, and the meaning of a setting, from
// the schema that the extension contains. Pure: it parses only as much TOML as the position needs.

/** The supported parts of a JSON schema. */
export interface SettingSchema {
  readonly description?: string;
  readonly type?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SettingSchema>>;
  readonly oneOf?: readonly SettingSchema[];
}

export interface SettingOffer {
  readonly kind: 'key' | 'table' | 'value';
  readonly label: string;
  /** The typed text. */
  readonly text: string;
  readonly about: string;
}

const header = /^\s*\[([A-Za-z0-9_.-]+)\]/u;
const keyBefore = /^\s*([A-Za-z0-9_-]*)$/u;
const tableBefore = /^\s*\[([A-Za-z0-9_.-]*)$/u;
const valueBefore = /^\s*([A-Za-z0-9_-]+)\s*=\s*"?([A-Za-z0-9_-]*)$/u;

/** The table that a line belongs to; empty before the first table. */
function tableAt(lines: readonly string[], line: number): readonly string[] {
  for (let at = line; at >= 0; at -= 1) {
    const name = header.exec(lines[at] ?? '')?.[1];
    if (name !== undefined) return name.split('.');
  }
  return [];
}

function propertiesOf(schema: SettingSchema): Readonly<Record<string, SettingSchema>> {
  const table = schema.oneOf?.find(({ properties }) => properties !== undefined);
  return schema.properties ?? table?.properties ?? {};
}

function schemaAt(schema: SettingSchema, path: readonly string[]): SettingSchema | null {
  let found: SettingSchema | null = schema;
  for (const name of path) {
    const inside: Readonly<Record<string, SettingSchema>> = propertiesOf(found);
    found = Object.hasOwn(inside, name) ? (inside[name] ?? null) : null;
    if (found === null) return null;
  }
  return found;
}

/** `column` is the caret's column, from 0. */
export function listOffers(
  schema: SettingSchema,
  lines: readonly string[],
  line: number,
  column: number,
): readonly SettingOffer[] {
  const before = (lines[line] ?? '').slice(0, column);
  const all = Object.entries(schema.properties ?? {});
  if (tableBefore.test(before)) {
    return all.flatMap(([name, each]) => (isTable(each) ? [tableOffer(name, each, name)] : []));
  }
  const table = tableAt(lines, line - 1);
  const here = schemaAt(schema, table);
  const key = valueBefore.exec(before)?.[1];
  if (key !== undefined) return valueOffers(here === null ? null : schemaAt(here, [key]), before);
  if (here === null || !keyBefore.test(before)) return [];
  return Object.entries(propertiesOf(here)).map(([name, each]) =>
    table.length === 0 && isTable(each)
      ? tableOffer(name, each, `[${name}]`)
      : { kind: 'key', label: name, text: `${name} = ${valueText(each)}`, about: aboutOf(each) },
  );
}

/** The setting named at a position, with its description; null for anything else. */
export function findSetting(
  schema: SettingSchema,
  lines: readonly string[],
  line: number,
  word: string,
): { readonly name: string; readonly about: string } | null {
  const text = lines[line] ?? '';
  const isHeader = header.test(text);
  const isKey = new RegExp(`^\\s*(?:#\\s*)?${word.replace(/[^A-Za-z0-9_-]/gu, '')}\\s*=`, 'u').test(
    text,
  );
  if (!isHeader && !isKey) return null;
  const path = isHeader ? tableAt(lines, line) : [...tableAt(lines, line), word];
  const found = schemaAt(schema, path);
  return found === null ? null : { name: path.join('.'), about: aboutOf(found) };
}

function isTable(schema: SettingSchema): boolean {
  return Object.keys(propertiesOf(schema)).length > 0;
}

function tableOffer(name: string, schema: SettingSchema, text: string): SettingOffer {
  const keys = Object.keys(propertiesOf(schema)).join(', ');
  return {
    kind: 'table',
    label: `[${name}]`,
    text,
    about: schema.description ?? `Settings: ${keys}`,
  };
}

function valueOffers(schema: SettingSchema | null, before: string): readonly SettingOffer[] {
  if (schema === null) return [];
  const isQuoted = /"[A-Za-z0-9_-]*$/u.test(before);
  const values = schema.type === 'boolean' ? [true, false] : (schema.enum ?? []);
  return values.map((value) => ({
    kind: 'value',
    label: String(value),
    text: isQuoted || typeof value !== 'string' ? String(value) : JSON.stringify(value),
    about: '',
  }));
}

/** A default to start from. */
function valueText(schema: SettingSchema): string {
  if (schema.default !== undefined) return JSON.stringify(schema.default);
  const empty: Readonly<Record<string, string>> = { array: '[]', string: '""', boolean: 'true' };
  return empty[schema.type ?? ''] ?? '';
}

function aboutOf(schema: SettingSchema): string {
  const { description = '', default: value } = schema;
  const tables = Object.keys(propertiesOf(schema));
  const text = description === '' ? `Settings: ${tables.join(', ')}` : description;
  return value === undefined ? text : `${text}\n\nDefault: \`${JSON.stringify(value)}\``;
}
