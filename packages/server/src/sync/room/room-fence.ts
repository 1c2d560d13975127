/** The member `epoch` of what a room stores; none where the relay is alone. [LIFE-26] */
export function epochMember(epoch: number | null): { readonly epoch?: number } {
  return epoch === null ? {} : { epoch }
}
