// Requests to a service as tests of databases make them, with the JSON of the replies.
import { expect } from 'vitest';
import type { TestService } from './rowan.ts';

/** @param service the service, once it is open */
export function serviceCalls(service: () => TestService) {
  async function perform(verb: string, path: string, body?: unknown) {
    const reply = await service().perform(verb, `/v1/${path}`, { body });
    return { status: reply.status, json: reply.text === '' ? undefined : JSON.parse(reply.text) };
  }

  /** Puts an entity, which has to be made. */
  async function put(path: string, body: unknown) {
    const { status, json } = await perform('PUT', path, body);
    expect(json.error ?? status).toBe(201);
    return json;
  }

  return { perform, put };
}
