import type { DoiResolver } from '../../citations/doi-resolver.ts'
import { failure, success } from '../results.ts'
import { annotations, input } from './schema.ts'
import { output } from './output-schema.ts'
import type { ToolRow } from './tool-row.ts'

/** The tool `resolve_doi`. [TOOL-resolve_doi, REF-9..REF-12] */
export function resolveDoi(resolver: DoiResolver): ToolRow {
  return {
    name: 'resolve_doi',
    place: 8,
    title: 'Resolve DOI',
    description: 'See what a DOI names. Returns CSL-JSON.',
    errors: { ERR_DOI_INVALID: { doi: 'none' }, ERR_DOI_NOT_FOUND: null, ERR_DOI_UNAVAILABLE: null },
    examples: [],
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
