/**
 * The client names its version in the query member `protocolVersion` when it connects. Additive changes raise the minor
 * number. [WS-2]
 */
export const PROTOCOL_VERSION = 4
export const PROTOCOL_MINOR = 2

/** Whether the relay accepts a protocol version: an absent one (`null`), `4`, and `4.<digits>`. [WS-2] */
export function acceptsProtocolVersion(value: string | null): boolean {
  return value === null || /^4(\.[0-9]+)?$/.test(value)
}
