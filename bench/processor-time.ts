import { readdirSync, readFileSync } from 'node:fs'

/** The kernel reports CPU times of processes in hundredths of a second. */
const TICKS_PER_SEC = 100

/** The CPU times in a line of `/proc/<pid>/stat`, in seconds: user and system time together, of all threads. */
export interface ProcessTimes {
  readonly parent: number
  readonly ownSec: number
  /** CPU time of the children that have ended and for which the process has waited. */
  readonly endedChildrenSec: number
}

/** Reads a line of `/proc/<pid>/stat`. Its second field is the name of the program in parentheses, which may contain spaces and parentheses. */
export function readStat(line: string): ProcessTimes {
  const fields = line.slice(line.lastIndexOf(') ') + 2).split(' ')
  const seconds = (user: number): number => (Number(fields[user]) + Number(fields[user + 1])) / TICKS_PER_SEC
  return { parent: Number(fields[1]), ownSec: seconds(11), endedChildrenSec: seconds(13) }
}

/** Processor time of one process in seconds. */
export function cpuSec(pid: number): number {
  return statOf(pid).ownSec
}

/** Returns the CPU seconds of a process and its children. Children that have ended are included, so that the value never falls. */
export function familyCpuSec(pid: number): number {
  const { ownSec, endedChildrenSec } = statOf(pid)
  let sum = ownSec + endedChildrenSec
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const child = statIfThere(Number(name))
    if (child?.parent === pid) sum += child.ownSec + child.endedChildrenSec
  }
  return sum
}

function statOf(pid: number): ProcessTimes {
  return readStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}

/** Returns `null` for a process that has ended since it was listed. */
function statIfThere(pid: number): ProcessTimes | null {
  try {
    return statOf(pid)
  } catch {
    return null
  }
}
