import type { DocumentMetadata } from '@docrelay/client'
import { describe, expect, it } from 'vitest'
import { idFlaw, readShares, reasonOf, withLevel } from './access.ts'

describe('reading and changing a share list', () => {
  it('[BODY-13] accepts every form that the relay reads', () => {
    const list = [
      'ann',
      { user_id: 'ben', role: 'write' },
      { id: 'cleo' },
      { userId: 'dan', userName: 'Dan', permission: 'owner', sharedAt: 7 },
    ]
    expect(readShares(list).map(({ userId, level }) => `${userId} ${level}`)).toEqual([
      'ann view',
      'ben edit',
      'cleo view',
      'dan owner',
    ])
    expect(readShares(list)[3]).toEqual({ userId: 'dan', userName: 'Dan', level: 'owner', since: 7 })
  })

  it('leaves out entries that give no right', () => {
    expect(readShares([null, 5, { permission: 'edit' }, { userId: 'eve', permission: 'toString' }])).toEqual([])
  })

  it('keeps all other entries, their names and their order when one level changes', () => {
    const shares = readShares([
      { userId: 'ann', permission: 'edit' },
      { userId: 'ben', userName: 'Ben', permission: 'edit' },
      'cleo',
    ])
    expect(withLevel(shares, 'ann', 'view')).toEqual([
      { userId: 'ann', permission: 'view' },
      { userId: 'ben', userName: 'Ben', permission: 'edit' },
      { userId: 'cleo', permission: 'view' },
    ])
    expect(withLevel(shares, 'ben', null).map(({ userId }) => userId)).toEqual(['ann', 'cleo'])
    expect(withLevel(shares, 'dan', 'edit').at(-1)).toEqual({ userId: 'dan', permission: 'edit' })
  })
})

describe('the reason for access to a document', () => {
  const facts = (access: string, sharedWith: readonly unknown[] = []) =>
    ({ ownerId: 'ann', access, sharedWith }) as unknown as DocumentMetadata

  it.each([
    ['ann', facts('owner'), 'owner'],
    ['ben', facts('edit', [{ userId: 'ben', permission: 'edit' }]), 'share'],
    ['ben', facts('view', [{ userId: 'ben', permission: 'edit' }]), 'share'],
    ['ben', facts('owner', [{ userId: 'ben', permission: 'edit' }]), 'workspace-owner'],
    ['ben', facts('owner'), 'workspace-owner'],
    ['ben', facts('edit'), 'workspace'],
    ['ben', facts('edit', ['ben']), 'workspace'],
  ] as const)('[PERM-1] %s with %j: %s', (sub, metadata, reason) => {
    expect(reasonOf(sub, metadata)).toBe(reason)
  })
})

it('[BODY-13] an id is refused when it is empty, longer than 256 bytes, the owner, or in the list', () => {
  const shares = readShares(['ben'])
  const flaws = ['', 'é'.repeat(129), 'ann', 'ben', 'é'.repeat(128), 'cleo@example.org'].map((id) => idFlaw(id, 'ann', shares))
  expect(flaws).toEqual(['empty', 'long', 'owner', 'known', null, null])
})
