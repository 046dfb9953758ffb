// Files that are never committed because of their name: private keys, tokens, local settings, and
// names that would act on the terminal that lists them. Settings files that projects commit, such
// as .npmrc, are not among them: those are held because of their content.

const harmless = /\.(?:example|sample)$/i;

/** Matches the last part of a path. */
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
  // Modules of programs too: files with such names are held until a person allows them.
  /^secrets\../i,
];

/** Control characters in text that reaches terminals through `git log`, `ls` and the like. */
export function actsOnTerminal(text: string): boolean {
  return /[^\P{Cc}\t\n\r]/u.test(text);
}

/** Judges by the last part of a path, and by control characters anywhere in it. */
export function isHeldFileName(path: string): boolean {
  if (actsOnTerminal(path)) return true;
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (harmless.test(name)) return false;
  return heldNames.some((pattern) => pattern.test(name));
}
