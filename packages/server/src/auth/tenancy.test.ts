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
    ['no workspace named', undefined, 'b'],
    ['a blank name', '', 'b'],
    ['the pinned workspace named', 'b', 'b'],
    ['another workspace of the token named', 'a', 'forbidden-plain'],
    ['a workspace outside the token named', 'x', 'forbidden-plain'],
    ['the pinned workspace in another case', 'B', 'forbidden-plain'],
  ])('[AUTH-6] dedicated tenancy decides the workspace of a request: %s', (_, named, expected) => {
    const choice = chooseMembership(caller, dedicated, named)
    expect(choice.kind === 'chosen' ? choice.membership.workspaceId : choice.kind).toBe(expected)
  })

  it.each([
    ['none named: the first usable entry', undefined, 'a'],
    ['a blank name', '', 'a'],
    ['a workspace of the claim named', 'b', 'b'],
    ['a workspace outside the claim named', 'x', 'forbidden'],
    ['a name such as constructor', 'constructor', 'forbidden'],
  ])('[AUTH-6] shared tenancy decides the workspace of a request: %s', (_, named, expected) => {
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
  ])('[AUTH-8] relay region %j accepts or refuses a claim entry with region %j', (server, entry, matches) => {
    expect(regionMatches(server, { region: entry })).toBe(matches)
  })
})
