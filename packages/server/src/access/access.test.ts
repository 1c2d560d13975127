import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ERRORS } from '../kernel/errors.ts'
import {
  type AccessPolicy,
  decideLevel,
  type Level,
  STATIC_PRINCIPAL,
  mayCreate,
  mayOverrideTombstone,
  reaches,
  refuse,
} from './access.ts'
import type { Role } from '../auth/principal.ts'
import { readShares, visibleShares } from './shares.ts'
import { PRIVATE_DOCS } from './testing/policies.ts'

type Word = 'view' | 'edit' | 'owner'

/** The caller is `me`. The document belongs to `owner`, unless `ownerId` says otherwise. */
interface Situation {
  readonly role: Role
  readonly ownerId?: string
  readonly share?: Word
  readonly enforced?: boolean
  /** The level of everybody in the workspace on documents of the static token. */
  readonly shared?: AccessPolicy['staticTokenShare']
}

function levelOf({ role, ownerId = 'owner', share, enforced = true, shared = 'none' }: Situation): Level {
  const shares = readShares(share === undefined ? [] : [{ userId: 'me', permission: share }])
  return decideLevel({ sub: 'me', role }, { ownerId, shares }, { enforcePrivateDocs: enforced, staticTokenShare: shared })
}

/** Columns of PERM-3. A column that covers several situations is checked in each of them. */
const COLUMNS: Readonly<Record<string, readonly Situation[]>> = {
  'doc owner': [
    { role: 'member', ownerId: 'me' },
    { role: 'member', share: 'owner' },
  ],
  'edit share': [
    { role: 'member', share: 'edit' },
    { role: 'member', ownerId: STATIC_PRINCIPAL, shared: 'edit' },
    { role: 'member', ownerId: STATIC_PRINCIPAL, shared: 'edit', share: 'view' },
  ],
  'view share': [
    { role: 'member', share: 'view' },
    { role: 'member', ownerId: STATIC_PRINCIPAL, shared: 'view' },
  ],
  'ws owner': [
    { role: 'owner' },
    { role: 'owner', ownerId: STATIC_PRINCIPAL },
    { role: 'owner', share: 'view' },
    { role: 'owner', enforced: false },
  ],
  'member, no share': [{ role: 'member' }, { role: 'member', ownerId: STATIC_PRINCIPAL }, { role: 'member', shared: 'edit' }],
  'viewer role, owner or any share': [
    { role: 'viewer', ownerId: 'me' },
    { role: 'viewer', share: 'owner' },
    { role: 'viewer', share: 'edit' },
    { role: 'viewer', share: 'view' },
    { role: 'viewer', ownerId: STATIC_PRINCIPAL, shared: 'view' },
    { role: 'viewer', ownerId: STATIC_PRINCIPAL, shared: 'edit' },
  ],
  'viewer role, no share': [
    { role: 'viewer' },
    { role: 'viewer', ownerId: STATIC_PRINCIPAL },
    { role: 'viewer', shared: 'edit' },
  ],
  'member, enforcement off': [{ role: 'member', enforced: false }],
}

const Y = true
const N = false
/** Rows of PERM-3 that depend on the document, in the order of the columns. */
const ROWS: readonly (readonly [string, (level: Level) => boolean, readonly boolean[]])[] = [
  ['list, GET, ydoc, preview, recovery, JOIN, DOC_EVENT', (level) => reaches(level, 'view'), [Y, Y, Y, Y, N, Y, N, Y]],
  ['PUT, set collection, capture, SYNC, MCP edits', (level) => reaches(level, 'edit'), [Y, Y, N, Y, N, N, N, Y]],
  ['DELETE, share, links, transfer, restore, sharedWith', (level) => reaches(level, 'owner'), [Y, N, N, Y, N, N, N, N]],
]

describe('the permission table', () => {
  const columns = Object.keys(COLUMNS)
  const cells = ROWS.flatMap(([operation, allows, expected]) =>
    columns.map((column, i) => [operation, column, allows, expected[i] ?? N] as const),
  )

  it.each(cells)('[PERM-1] [PERM-3] [AG-89] the table decides operation %s for caller %s', (_, column, allows, expected) => {
    for (const situation of COLUMNS[column] ?? [])
      expect({ situation, allowed: allows(levelOf(situation)) }).toEqual({ situation, allowed: expected })
  })

  const overrides: readonly (readonly [string, Role, string, boolean])[] = [
    ['doc owner', 'member', 'me', Y],
    ['edit share', 'member', 'owner', N],
    ['view share', 'member', 'owner', N],
    ['ws owner', 'owner', 'owner', Y],
    ['member, no share', 'member', 'owner', N],
    ['viewer role, recorded owner', 'viewer', 'me', N],
    ['viewer role, no share', 'viewer', 'owner', N],
    ['member, enforcement off', 'member', 'owner', N],
    ['member, nobody recorded', 'member', '', N],
  ]
  it.each(overrides)('[PERM-3] the table decides overrideTombstone for caller %s', (_, role, recordedOwnerId, allowed) => {
    expect(mayOverrideTombstone({ sub: 'me', role }, recordedOwnerId)).toBe(allowed)
  })

  it.each([
    ['owner', Y],
    ['member', Y],
    ['viewer', N],
  ] as const)(
    '[PERM-3] the table decides whether role %s may create documents and write collections, style profiles and blobs',
    (role, allowed) => {
      expect(mayCreate(role)).toBe(allowed)
    },
  )
})

describe('the level of a caller', () => {
  it.each([
    ['nobody owns it, member', { role: 'member', ownerId: '' }, 'edit'],
    ['nobody owns it, viewer', { role: 'viewer', ownerId: '' }, 'none'],
    ['nobody owns it, ws owner', { role: 'owner', ownerId: '' }, 'owner'],
    ['enforcement off, viewer', { role: 'viewer', enforced: false }, 'view'],
    ['enforcement off, member with owner share', { role: 'member', share: 'owner', enforced: false }, 'owner'],
    ['a view share does not lower what enforcement off gives', { role: 'member', share: 'view', enforced: false }, 'edit'],
  ] as const)('[PERM-1] the table gives the level of a caller: %s', (_, situation, level) => {
    expect(levelOf(situation)).toBe(level)
  })

  it('[PERM-1] the highest of several entries of one user counts; entries of others and unknown words give nothing', () => {
    const shares = readShares([
      { userId: 'me', permission: 'view' },
      { userId: 'me', permission: 'edit' },
      { userId: 'x', permission: 'owner' },
      { userId: 'me', permission: 'admin' },
    ])
    expect(decideLevel({ sub: 'me', role: 'member' }, { ownerId: 'owner', shares }, PRIVATE_DOCS)).toBe('edit')
    expect(decideLevel({ sub: 'you', role: 'member' }, { ownerId: 'owner', shares }, PRIVATE_DOCS)).toBe('none')
  })

  it('[PERM-2] the level of a caller depends only on that caller and the document', () => {
    const mine = { ownerId: 'me', shares: [] }
    const theirs = { ownerId: 'you', shares: [] }
    const caller = { sub: 'me', role: 'member' } as const
    expect([mine, theirs, mine].map((sharing) => decideLevel(caller, sharing, PRIVATE_DOCS))).toEqual(['owner', 'none', 'owner'])
    expect(decideLevel({ ...caller, role: 'viewer' }, mine, PRIVATE_DOCS)).toBe('view')
  })

  it('[PERM-6] a share entry for the owner has no effect', () => {
    const shares = readShares([{ userId: 'me', permission: 'view' }])
    expect(decideLevel({ sub: 'me', role: 'member' }, { ownerId: 'me', shares }, PRIVATE_DOCS)).toBe('owner')
  })

  it('[PERM-1] a caller with workspace role viewer never gets more than level view', () => {
    const somePolicy = fc.record({
      enforcePrivateDocs: fc.boolean(),
      staticTokenShare: fc.constantFrom('none' as const, 'view' as const, 'edit' as const),
    })
    const any = fc.record({ userId: fc.constantFrom('me', 'you'), permission: fc.constantFrom('view', 'edit', 'owner', 'x') })
    fc.assert(
      fc.property(fc.array(any), fc.constantFrom('me', 'you', '', STATIC_PRINCIPAL), somePolicy, (list, ownerId, policy) => {
        const level = decideLevel({ sub: 'me', role: 'viewer' }, { ownerId, shares: readShares(list) }, policy)
        expect(['none', 'view']).toContain(level)
      }),
    )
  })
})

describe('refused rights', () => {
  const rows: readonly (readonly [Role, Level, Word, boolean, string, string])[] = [
    ['member', 'none', 'view', false, 'VIEW_FORBIDDEN', 'ERR_VIEW_FORBIDDEN: '],
    ['member', 'none', 'edit', false, 'VIEW_FORBIDDEN', 'ERR_VIEW_FORBIDDEN: '],
    ['member', 'none', 'owner', true, 'VIEW_FORBIDDEN', 'ERR_VIEW_FORBIDDEN: '],
    ['viewer', 'none', 'view', false, 'VIEW_FORBIDDEN', 'ERR_VIEW_FORBIDDEN: '],
    ['member', 'view', 'edit', false, 'EDIT_FORBIDDEN', 'ERR_EDIT_FORBIDDEN: '],
    ['viewer', 'view', 'edit', false, 'EDIT_FORBIDDEN', 'ERR_EDIT_FORBIDDEN: '],
    ['member', 'view', 'owner', false, 'OWNER_REQUIRED', 'ERR_EDIT_FORBIDDEN: '],
    ['member', 'edit', 'owner', false, 'OWNER_REQUIRED', 'ERR_EDIT_FORBIDDEN: '],
    ['member', 'edit', 'owner', true, 'OWNER_REQUIRED', 'ERR_DELETE_FORBIDDEN: '],
    ['viewer', 'view', 'owner', false, 'EDIT_FORBIDDEN', 'ERR_EDIT_FORBIDDEN: '],
    ['viewer', 'view', 'owner', true, 'EDIT_FORBIDDEN', 'ERR_EDIT_FORBIDDEN: '],
  ]
  it.each(rows)(
    '[PERM-4] [REST-3] [REST-14] role %s, level %s, needs %s, deletes %s: %s',
    (role, level, needed, deletes, code, prefix) => {
      const error = refuse({ role, level, needed, deletes, docId: 'd1' })
      expect([error.code, ERRORS[error.code].status, error.message.startsWith(prefix)]).toEqual([code, 403, true])
      expect(error.details).toEqual({ docId: 'd1', role, access: level })
    },
  )

  it('[REST-14] without a document the details of the error have no docId', () => {
    expect(refuse({ role: 'viewer', level: 'view', needed: 'edit' }).details).toEqual({ role: 'viewer', access: 'view' })
  })
})

describe('share lists', () => {
  const readings: readonly (readonly [unknown, string | undefined, string | null | undefined])[] = [
    ['ann', 'ann', 'view'],
    [{ userId: 'ann' }, 'ann', 'view'],
    [{ user_id: 'ann', role: 'editor' }, 'ann', 'edit'],
    [{ id: 'ann', permission: 'write' }, 'ann', 'edit'],
    [{ userId: 'ann', user_id: 'ben', id: 'cat' }, 'ann', 'view'],
    [{ userId: 7, user_id: 'ben' }, 'ben', 'view'],
    [{ userId: 'ann', permission: 'view', role: 'owner' }, 'ann', 'view'],
    [{ userId: 'ann', permission: 'viewer' }, 'ann', 'view'],
    [{ userId: 'ann', permission: 'read' }, 'ann', 'view'],
    [{ userId: 'ann', permission: 'edit' }, 'ann', 'edit'],
    [{ userId: 'ann', permission: 'owner' }, 'ann', 'owner'],
    [{ userId: 'ann', permission: 'admin' }, 'ann', null],
    [{ userId: 'ann', permission: 'Edit' }, 'ann', null],
    [{ userId: 'ann', permission: '' }, 'ann', null],
    [{ userId: 'ann', permission: null }, 'ann', null],
    [{ userId: 'ann', permission: ['edit'] }, 'ann', null],
    [{ userId: 'ann', permission: 'toString' }, 'ann', null],
    [JSON.parse('{"__proto__":{"permission":"owner"},"userId":"ann"}'), 'ann', 'view'],
    [{ name: 'ann' }, undefined, undefined],
    [null, undefined, undefined],
    [7, undefined, undefined],
    [['ann'], undefined, undefined],
  ]
  it.each(readings)('[BODY-13] the share entry %j is user %s with level %s', (raw, userId, permission) => {
    expect(readShares([raw])).toEqual(userId === undefined ? [] : [{ userId, permission, raw }])
  })

  it('[BODY-13] share entries are kept as given', () => {
    const raw = { user_id: 'ann', role: 'editor', note: [1] }
    expect(readShares([raw])[0]?.raw).toBe(raw)
  })

  const list = ['me', { userId: 'you', permission: 'edit' }, { id: 'me', role: 'editor' }, { odd: true }]
  it.each([
    ['owner', list],
    ['edit', list],
    ['view', ['me', { id: 'me', role: 'editor' }]],
    ['none', []],
  ] as const)('[PERM-7] the table decides which share entries level %s sees', (level, visible) => {
    expect(visibleShares(level, 'me', list)).toEqual(visible)
  })

  it('[PERM-7] a reader who is not in the list sees no entry', () => {
    expect(visibleShares('view', 'stranger', list)).toEqual([])
  })
})
