// File names that are never committed: private keys, tokens, local settings, and names that control
// the terminal that lists them. Settings files that projects commit, such as .npmrc, are held only
// because of their content.

const harmless = /\.(?:example|sample)$/i;

/** Matched against the last segment of a path. */
const heldNames: readonly RegExp[] = [
  /^\.env(?:\..*)?$/i,
  /^\.(?:netrc|git-credentials|pgpass|dockercfg|htpasswd)$/i,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx|tfstate)$/i,
  /\.tfstate\.backup$/i,
  /^id_(?:rsa|ed25519)/i,
  /^id_(?:dsa|ecdsa|ed25519_sk|ecdsa_sk|xmss)(?:[._-].*)?$/i,
  /^credentials/,
  /^credentials(?:\.(?:json|ya?ml|toml|ini|csv|txt|xml|db))?$/i,
  /^kubeconfig(?:[._-].*)?$/i,
  /^service[-_]account.*\.json$/i,
  // Also matches source files; these are held until a person allows them.
  /^secrets\../i,
];

/** Control characters in text that terminals print, for example by `git log` or `ls`. */
export function actsOnTerminal(text: string): boolean {
  return /[^\P{Cc}\t\n\r]/u.test(text);
}

/** Checks the last segment of a path, and the whole path for control characters. */
export function isHeldFileName(path: string): boolean {
  if (actsOnTerminal(path)) return true;
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (harmless.test(name)) return false;
  return heldNames.some((pattern) => pattern.test(name));
}
