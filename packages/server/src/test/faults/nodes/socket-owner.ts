import { readFileSync, readdirSync, readlinkSync } from 'node:fs'

const LOOPBACK = '0100007F'
const NO_INODE = '0'

/**
 * Returns the process that opened the loopback connection from `port`; `null` when none of these has, or where the system has no /proc. With it,
 * a proxy can tell nodes apart that dial the same address.
 */
export function ownerOfSocket(port: number, pids: readonly number[]): number | null {
  try {
    const inode = inodeOf(port)
    return inode === null ? null : (pids.find((pid) => hasSocket(pid, inode)) ?? null)
  } catch {
    return null
  }
}

/** Returns the inode of a socket from /proc/net/tcp. A line has number, local address, remote address, state, …, and the inode as tenth field. */
function inodeOf(port: number): string | null {
  const local = `${LOOPBACK}:${port.toString(16).toUpperCase().padStart(4, '0')}`
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const cells = line.trim().split(/\s+/)
    if (cells[1] === local && cells[9] !== undefined && cells[9] !== NO_INODE) return cells[9]
  }
  return null
}

function hasSocket(pid: number, inode: string): boolean {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).some((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`) === `socket:[${inode}]`
    } catch {
      return false
    }
  })
}
