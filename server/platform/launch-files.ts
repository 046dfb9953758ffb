// The files with which a user's service manager starts a backend and keeps it running. Pure.

import { join } from 'node:path';
import type { ProgramStart, ServiceRequest, UserService } from './port.ts';

export function systemdService(request: ServiceRequest, user: string): UserService {
  const { id, root, start, path, env, home } = request;
  const name = `drover-${id}.service`;
  const config = env['XDG_CONFIG_HOME'] ?? '';
  const folder = join(config === '' ? join(home, '.config') : config, 'systemd', 'user');
  const words = [start.program, ...start.args].map((word) =>
    unitWord(word).replaceAll('$', '$$$$'),
  );
  const text = [
    '[Unit]',
    `Description=Drover for ${unitText(root)}`,
    '',
    '[Service]',
    `ExecStart=${words.join(' ')}`,
    `WorkingDirectory=${unitText(root)}`,
    `Environment=${unitWord(`PATH=${path}`)}`,
    '# Agents outlive their backend: the next one continues with them.',
    'KillMode=process',
    'Restart=always',
    'RestartSec=60',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
  const call = (...args: string[]): ProgramStart => ({
    program: 'systemctl',
    args: ['--user', ...args],
  });
  return {
    name,
    file: join(folder, name),
    text,
    enable: [call('daemon-reload'), call('enable', '--now', name)],
    disable: [call('disable', '--now', name)],
    isRunning: call('is-active', '--quiet', name),
    linger: { command: 'loginctl enable-linger', isOnFile: `/var/lib/systemd/linger/${user}` },
  };
}

export function launchdService(request: ServiceRequest, userNumber: number): UserService {
  const { id, root, start, path, home } = request;
  const name = `dev.drover.${id}`;
  const file = join(home, 'Library', 'LaunchAgents', `${name}.plist`);
  const words = [start.program, ...start.args].map((word) => `    <string>${xml(word)}</string>`);
  const text = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '<dict>',
    `  <key>Label</key><string>${name}</string>`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...words,
    '  </array>',
    `  <key>WorkingDirectory</key><string>${xml(root)}</string>`,
    '  <key>EnvironmentVariables</key>',
    `  <dict><key>PATH</key><string>${xml(path)}</string></dict>`,
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><true/>',
    '  <key>ThrottleInterval</key><integer>60</integer>',
    '  <key>AbandonProcessGroup</key><true/>',
    '</dict>',
    '</plist>',
    '',
  ].join('\n');
  const domain = `user/${userNumber}`;
  const call = (...args: string[]): ProgramStart => ({ program: '/bin/launchctl', args });
  return {
    name,
    file,
    text,
    enable: [call('bootstrap', domain, file)],
    disable: [call('bootout', `${domain}/${name}`)],
    isRunning: call('print', `${domain}/${name}`),
    linger: null,
  };
}

/** `%` starts a systemd specifier. */
function unitText(text: string): string {
  return text.replaceAll('%', '%%');
}

function unitWord(word: string): string {
  return `"${unitText(word).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
