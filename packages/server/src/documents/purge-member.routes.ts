import { JSON_BODY, type Route, type RouteDeclaration } from '../http/route.ts'
import { readMembers, readUserId } from '../kernel/bad-request.ts'
import type { Logger } from '../kernel/log.ts'
import { checkWorkspaceId } from './document-id.ts'
import type { Documents } from './documents.ts'
import { PURGE_MEMBER_EXCHANGES } from './documents.exchanges.ts'

/** The control plane's route for people who left a workspace, without its handler. [REST-30] */
export const PURGE_MEMBER_ROUTES = {
  purge: {
    method: 'POST',
    path: '/api/v1/internal/workspace/:ws/purge-member',
    credential: 'revocation-bearer',
    body: JSON_BODY,
    needs: 'the revocation push bearer',
    summary: 'Takes a user out of every share list of a workspace.',
    exchange: PURGE_MEMBER_EXCHANGES.purge,
    checkParams: (params: Readonly<Record<string, string>>) => checkWorkspaceId(params.ws ?? '', 'ws'),
  },
} as const satisfies Record<string, RouteDeclaration>

export function purgeMemberRoutes(deps: {
  readonly documents: Pick<Documents, 'purgeMember'>
  readonly log: Logger
}): readonly Route[] {
  return [
    {
      ...PURGE_MEMBER_ROUTES.purge,
      async handle({ params, json, requestId }) {
        const workspace = params.ws ?? ''
        const userId = readUserId(readMembers(json).user_id, 'user_id')
        const purged = await deps.documents.purgeMember(workspace, userId)
        const fields = { audit: true, requestId, workspace, member: userId, purged } as const
        deps.log.info('workspace.member_purged', 'a former member was taken out of the share lists of a workspace', fields)
        return { kind: 'json', value: { purged } }
      },
    },
  ]
}
