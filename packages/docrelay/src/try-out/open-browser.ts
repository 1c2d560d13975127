import { spawn } from 'node:child_process'

const COMMANDS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Opens an address in the person's browser. Where no browser can be started, nothing happens: the address is printed anyway. */
export function openBrowser(url: string): void {
  const [command = 'xdg-open', ...args] = COMMANDS[process.platform] ?? []
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}
