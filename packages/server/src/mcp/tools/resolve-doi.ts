import type { DoiResolver } from '../../citations/doi-resolver.ts'
import { failure, success } from '../results.ts'
import type { ToolDefinition } from '../tool.ts'
import { annotations, input, output } from './schema.ts'

/** [TOOL-resolve_doi, REF-9..REF-12] */
export function resolveDoi(resolver: DoiResolver): ToolDefinition {
  return {
    name: 'resolve_doi',
    title: 'Resolve DOI',
    description: 'See what a DOI names. Returns CSL-JSON.',
    inputSchema: input({ doi: { type: 'string', maxLength: 300 } }),
    outputSchema: output(['reference', 'doi', 'cached']),
    annotations: annotations('RO', 'ID', 'OW'),
    toolset: 'read',
    access: 'none',
    bucket: 'read',
    async run({ args, access, signal }) {
      const resolved = await resolver.resolve(access.workspaceId, String(args['doi']), signal)
      if (resolved.kind === 'refused') return failure(resolved.code, resolved.message, resolved.facts)
      const { reference, doi, cached } = resolved
      return success({ reference, doi, cached })
    },
  }
}
