import { describe, expect, it } from 'vitest'
import type { Membership } from './principal.ts'
import { chooseMembership, noMembership, regionMatches, tenancyOf } from './tenancy.ts'

const membership = (workspaceId: string, role: Membership['role'] = 'member'): Membership => ({
  workspaceId,
  role,
  region: undefined,
  claims: {},
})
const caller = { memberships: [membership('a', 'viewer'), membership('b', 'owner')] }
const dedicated = tenancyOf('dedicated', 'b')
const shared = tenancyOf('shared', null)

describe('the workspace of a request', () => {
  it.each([
    ['none named', undefined, 'b'],
    ['a blank name', '', 'b'],
    ['the pin named', 'b', 'b'],
    ['another of the token named', 'a', 'forbidden-plain'],
    ['a stranger named', 'x', 'forbidden-plain'],
    ['the pin in another case', 'B', 'forbidden-plain'],
  ])('[AUTH-6] dedicated tenancy: %s', (_, named, expected) => {
    const choice = chooseMembership(caller, dedicated, named)
    expect(choice.kind === 'chosen' ? choice.membership.workspaceId : choice.kind).toBe(expected)
  })

  it.each([
    ['none named: the first usable entry', undefined, 'a'],
    ['a blank name', '', 'a'],
    ['one named', 'b', 'b'],
    ['one that is not in the claim', 'x', 'forbidden'],
    ['a name of Object', 'constructor', 'forbidden'],
  ])('[AUTH-6] shared tenancy: %s', (_, named, expected) => {
    const choice = chooseMembership(caller, shared, named)
    expect(choice.kind === 'chosen' ? choice.membership.workspaceId : choice.kind).toBe(expected)
  })

  it('[AUTH-6] a token without the pinned workspace is forbidden without details', () => {
    expect(chooseMembership({ memberships: [membership('a')] }, dedicated, undefined)).toEqual({ kind: 'forbidden-plain' })
  })

  it('[AUTH-4] [AUTH-6] a token without any usable entry is forbidden in the words of its tenancy', () => {
    expect([noMembership(dedicated), noMembership(shared)]).toEqual([{ kind: 'forbidden-plain' }, { kind: 'forbidden' }])
  })

  it('[AUTH-7] the pinned workspace is workspace_id, or `default` when blank', () => {
    expect(tenancyOf('dedicated', 'acme')).toEqual({ mode: 'dedicated', workspaceId: 'acme' })
    expect(tenancyOf('dedicated', '')).toEqual({ mode: 'dedicated', workspaceId: 'default' })
    expect(tenancyOf('dedicated', null)).toEqual({ mode: 'dedicated', workspaceId: 'default' })
    expect(tenancyOf('shared', '')).toEqual({ mode: 'shared' })
  })

  it.each([
    ['', undefined, true],
    ['', 'us', true],
    ['eu', 'eu', true],
    ['eu', 'us', false],
    ['eu', 'EU', false],
    ['eu', undefined, false],
    ['eu', '', false],
  ])('[AUTH-8] region %j of the relay and %j of the claim entry', (server, entry, matches) => {
    expect(regionMatches(server, { region: entry })).toBe(matches)
  })
})
