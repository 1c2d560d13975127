import { describe, expect, it } from 'vitest'
import { editDistance, likelyMeant, NameHints, nearestNames } from './nearest.ts'
import { quote } from './quote.ts'

describe('suggestions in errors', () => {
  it('[PROSE-53] the nearest names come first, ignoring case, and equally near names in the given order', () => {
    expect(nearestNames('clinet', ['Project', 'Client', 'Clients', 'Date'])).toEqual(['Client', 'Clients', 'Project'])
    expect(nearestNames('x', ['b', 'a'])).toEqual(['b', 'a'])
    expect(nearestNames('x', [])).toEqual([])
  })

  it.each([
    ['heigth', ['width', 'height'], 'height'],
    ['pageID', ['docId', 'pageId'], 'pageId'],
    ['expected_version', ['expectedVersion', 'dryRun'], 'expectedVersion'],
    ['quota_bytes', ['max_doc_bytes', 'storage_quota_bytes'], 'storage_quota_bytes'],
    ['two', ['one', 'two'], 'two'],
    ['content', ['docId', 'pageId', 'format'], null],
    ['delta', ['docId', 'pageId'], null],
    ['algorithm', ['port', 'issuer', 'audience'], null],
    ['generate_diagram', ['get_page', 'get_diagram_types'], null],
    ['x', ['y'], null],
    ['', ['port'], null],
  ])('[TOOL-14] %s with the choice of %j suggests %s', (name, candidates, meant) => {
    expect(likelyMeant(name, candidates)).toBe(meant)
  })

  it('[TOOL-14] swapping two neighbouring letters counts as one change', () => {
    expect([editDistance('prot', 'port'), editDistance('abc', 'abc'), editDistance('', 'ab'), editDistance('ab', 'ba')]).toEqual([
      1, 0, 2, 1,
    ])
  })

  it('[TOOL-14] long names and many candidates take limited time', () => {
    const many = Array.from({ length: 100_000 }, (_, i) => `name ${i} `.repeat(50))
    const start = process.threadCpuUsage().user
    expect(nearestNames('n'.repeat(1_000_000), many)).toHaveLength(3)
    expect(process.threadCpuUsage().user - start).toBeLessThan(100_000)
  })

  it('[TOOL-14] quotes are cut after 120 characters, never inside a character', () => {
    expect(quote('x'.repeat(120))).toBe('x'.repeat(120))
    expect(quote('x'.repeat(121))).toBe(`${'x'.repeat(120)}…`)
    expect(quote('😀'.repeat(120))).toBe('😀'.repeat(120))
    expect(quote('😀'.repeat(121))).toBe(`${'😀'.repeat(120)}…`)
  })
})

describe('suggestions for the names of one call', () => {
  it('[TOOL-17] [CONC-13] names are compared once for each kind of thing, and only the first 50 names are compared', () => {
    let compared = 0
    const names = {
      *[Symbol.iterator]() {
        compared++
        yield 'height'
      },
    }
    const hints = new NameHints()
    const meant = (name: string, kind = 'a') => hints.likelyMeant(name, kind, names)
    expect([meant('heigth'), meant('heigth'), meant('heigth', 'b'), meant('zzz')]).toEqual(['height', 'height', 'height', null])
    expect(compared).toBe(3)
    for (let i = 0; i < 1000; i++) meant(`heigth${i}`)
    expect(compared).toBe(50)
    expect([meant('heigth'), meant('heighth')]).toEqual(['height', null])
  })
})
