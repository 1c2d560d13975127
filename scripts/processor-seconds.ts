import { readFileSync } from 'node:fs'

/** Of Linux; what `getconf CLK_TCK` tells on every machine of today. */
const TICKS_PER_SECOND = 100

/**
 * The processor time, in seconds, that this process has used together with the processes that it started and that have ended. Where the
 * system does not tell that, without those processes.
 */
export function processorSeconds(): number {
  try {
    return fromStat(readFileSync('/proc/self/stat', 'utf8'))
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }
}

/** From the text of `/proc/self/stat`: user and system time of the process and of the ended ones that it started. */
export function fromStat(stat: string): number {
  // The second field is the name of the program, which may contain spaces; the third follows the last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  return ticks / TICKS_PER_SECOND
}

let toldSeconds = 0

/** The processor time since the last call in this process; at the first call, since it started. */
export function processorSecondsSinceLast(): number {
  const now = processorSeconds()
  const since = now - toldSeconds
  toldSeconds = now
  return since
}
