import { spawn } from 'node:child_process'

const COMMANDS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Opens an address in the person's browser. Does nothing where no browser can be started, because the address is printed anyway. */
export function openBrowser(url: string): void {
  const [command = 'xdg-open', ...args] = COMMANDS[process.platform] ?? []
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}
