import { describe, expect, it } from 'vitest'
import { CAS_ATTEMPTS, retryCas } from './retry-cas.ts'

/**
 * Makes a `decide` that loses its first `losses` races and then returns `stored`. `attempts` records the numbers passed to it.
 */
function losing(losses: number) {
  const attempts: number[] = []
  const decide = async (attempt: number) => {
    attempts.push(attempt)
    return attempts.length > losses ? 'stored' : 'again'
  }
  return { attempts, decide }
}

describe('retryCas', () => {
  it('[CONC-3] decides again after each lost race, and returns the first outcome that is not a loss', async () => {
    const { attempts, decide } = losing(3)
    expect(await retryCas<string>(decide, () => 'contended')).toBe('stored')
    expect(attempts).toEqual([0, 1, 2, 3])
  })

  it('[CONC-3] the last attempt may win', async () => {
    const { decide } = losing(CAS_ATTEMPTS - 1)
    expect(await retryCas<string>(decide, () => 'contended')).toBe('stored')
  })

  it('[CONC-3] returns the result of `contended` after five lost races', async () => {
    const { attempts, decide } = losing(CAS_ATTEMPTS)
    expect(await retryCas<string>(decide, async () => 'contended')).toBe('contended')
    expect(attempts).toEqual([0, 1, 2, 3, 4])
  })

  it('[CONC-3] throws the error of `contended`', async () => {
    const { decide } = losing(CAS_ATTEMPTS)
    const contended = (): never => {
      throw new Error('too many writers')
    }
    await expect(retryCas<string>(decide, contended)).rejects.toThrow('too many writers')
  })

  it('[CONC-3] does not repeat an attempt that fails', async () => {
    const attempts: number[] = []
    const failing = async (attempt: number): Promise<string> => {
      attempts.push(attempt)
      throw new Error('no store')
    }
    await expect(retryCas(failing, () => 'contended')).rejects.toThrow('no store')
    expect(attempts).toEqual([0])
  })
})
