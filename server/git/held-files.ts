// Which files are never committed because of their name: private keys, tokens and local settings.

const harmlessEndings = ['.example', '.sample'];
const secretEndings = ['.pem', '.key', '.p12'];
const secretBeginnings = ['id_rsa', 'id_ed25519', 'credentials'];

/** Judges by the last part of a path relative to the worktree. */
export function isHeldFileName(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (harmlessEndings.some((ending) => name.endsWith(ending))) return false;
  if (name === '.env' || name.startsWith('.env.')) return true;
  if (secretEndings.some((ending) => name.toLowerCase().endsWith(ending))) return true;
  return secretBeginnings.some((beginning) => name.startsWith(beginning));
}
