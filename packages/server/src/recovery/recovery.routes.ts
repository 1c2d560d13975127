import { checkDocumentId } from '../documents/document-id.ts'
import { presentBody } from '../documents/present.ts'
import { callerOf } from '../http/caller.ts'
import { NO_BODY, type Route, type RouteDeclaration, type RouteRequest } from '../http/route.ts'
import { RelayError } from '../kernel/errors.ts'
import type { PointHead } from './recovery-store.port.ts'
import type { Recovery } from './recovery.ts'
import { RECOVERY_EXCHANGES } from './recovery.exchanges.ts'

const CONTENT_HEADERS = { 'Cache-Control': 'private, no-cache' }
/** A point id: `<createdAt ms>-v<serverVersion>`. [REST-26] */
const POINT_ID = /^(?:0|[1-9]\d{0,14})-v[1-9]\d{0,14}$/
const OF_DOCUMENT = { credential: 'bearer', body: NO_BODY, documentParam: 'id', checkParams: checkDocument } as const
const OF_POINT = { ...OF_DOCUMENT, checkParams: checkPoint } as const

/** Declarations of the recovery routes, without handlers. [interface, Endpoints] */
export const RECOVERY_ROUTES = {
  list: {
    ...OF_DOCUMENT,
    method: 'GET',
    path: '/api/docs/:id/recovery',
    needs: 'view',
    summary: 'The recovery points of a document, newest first.',
    exchange: RECOVERY_EXCHANGES.list,
  },
  capture: {
    ...OF_DOCUMENT,
    method: 'POST',
    path: '/api/docs/:id/recovery/capture',
    needs: 'edit',
    summary: 'Keeps the present state as a recovery point, unless the newest one says the same.',
    exchange: RECOVERY_EXCHANGES.capture,
  },
  read: {
    ...OF_POINT,
    method: 'GET',
    path: '/api/docs/:id/recovery/:pointId',
    needs: 'view',
    summary: 'The document body as it was at a recovery point.',
    largeAnswer: true,
    exchange: RECOVERY_EXCHANGES.read,
  },
  restore: {
    ...OF_POINT,
    method: 'POST',
    path: '/api/docs/:id/recovery/:pointId/restore',
    needs: 'owner',
    summary: 'Puts a new document with the content of a recovery point in the place of this one.',
    exchange: RECOVERY_EXCHANGES.restore,
  },
} as const satisfies Record<string, RouteDeclaration>

export interface RecoveryRoutesDeps {
  readonly recovery: Recovery
  /** Whether answers have the form that existing editor clients expect. [CFG-2] */
  readonly editorClient: boolean
}

/** The recovery routes with handlers that call the service. */
export function recoveryRoutes({ recovery, editorClient }: RecoveryRoutesDeps): readonly Route[] {
  return [
    {
      ...RECOVERY_ROUTES.list,
      async handle(request) {
        const points = await recovery.list(callerOf(request).access, idOf(request))
        return { kind: 'json', value: { recoveryPoints: points.map(recoveryPoint) }, headers: CONTENT_HEADERS }
      },
    },
    {
      ...RECOVERY_ROUTES.capture,
      async handle(request) {
        return { kind: 'json', value: { captured: await recovery.capture(callerOf(request).access, idOf(request)) } }
      },
    },
    {
      ...RECOVERY_ROUTES.read,
      async handle(request) {
        const { record, reader } = await recovery.read(callerOf(request).access, idOf(request), pointIdOf(request))
        return { kind: 'json-bytes', parts: presentBody(record, reader, { editorClient }), headers: CONTENT_HEADERS }
      },
    },
    {
      ...RECOVERY_ROUTES.restore,
      async handle(request) {
        const head = await recovery.restore(callerOf(request).access, idOf(request), pointIdOf(request))
        return { kind: 'json', value: { newDocId: head.id, serverVersion: head.version } }
      },
    },
  ]
}

function recoveryPoint({ pointId, createdAtMs, version, sizeBytes, reason }: PointHead) {
  return { id: pointId, createdAt: createdAtMs, serverVersion: version, sizeBytes, reason }
}

function checkDocument(params: Readonly<Record<string, string>>): void {
  checkDocumentId(params.id ?? '')
}

function checkPoint(params: Readonly<Record<string, string>>): void {
  checkDocument(params)
  if (POINT_ID.test(params.pointId ?? '')) return
  throw new RelayError('BAD_ID', 'A recovery point id is <createdAt in milliseconds>-v<serverVersion>.', { field: 'pointId' })
}

function idOf(request: RouteRequest): string {
  return request.params.id ?? ''
}

function pointIdOf(request: RouteRequest): string {
  return request.params.pointId ?? ''
}
