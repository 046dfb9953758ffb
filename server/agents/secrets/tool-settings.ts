// Finds credentials in settings files of package managers, which projects commit. Such a file is
// held because of its content, never because of its name. Any literal password counts in them, even
// a weak one.

/** Matches the last segment of a path. */
const settingsFile =
  /^(?:\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmrc|bunfig\.toml|\.bunfig\.toml|pip\.(?:conf|ini)|\.pypirc|\.condarc|\.envrc|nuget\.config|gradle\.properties|settings\.xml|auth\.json|poetry\.toml|uv\.toml|\.gemrc)$/i;

const name =
  '(?:_authToken|_auth|_password|npmAuthToken|npmAuthIdent|[\\w.-]*(?:password|passwd|passphrase|token|secret|api[_-]?key))';

/** `//host/:_authToken=…`, `npmAuthToken: "…"`, `password = …`, `export X_TOKEN=…`. */
const assigned = new RegExp(
  `^[^\\S\\n]*(?:export[^\\S\\n]+)?(?:[^\\s#;=]*:)?["']?${name}["']?[^\\S\\n]*[=:][^\\S\\n]*(?:"([^"\\n]+)"|'([^'\\n]+)'|([^\\s"'#;][^\\n]*?))[^\\S\\n]*,?[^\\S\\n]*$`,
  'gim',
);
/** `<add key="ClearTextPassword" value="…" />`, `<password>…</password>`. */
const inXml =
  /<add\s+key="[^"]*(?:password|token|apikey)[^"]*"\s+value="([^"]+)"|<(?:password|passphrase|privateKey)>([^<]+)</gi;

/** Read from elsewhere when the file is used, or written as an example. */
const placeholder =
  /^(?:true|false|null|none|""|'')$|[$%`]|\{[\w.{]|<[\w -]+>|^(?:x+|\*+|\.+|…)$|^(?:your|changeme|example|placeholder|todo|redacted|dummy|token|password|secret)\b/i;

/** The values in text order; empty for a file with another name. */
export function credentialsInSettings(text: string, path: string): readonly string[] {
  if (!settingsFile.test(path.slice(path.lastIndexOf('/') + 1))) return [];
  const values = [...text.matchAll(assigned), ...text.matchAll(inXml)].map((found) =>
    (found.slice(1).find((value) => value !== undefined) ?? '').trim(),
  );
  return values.filter((value) => value !== '' && !placeholder.test(value));
}
