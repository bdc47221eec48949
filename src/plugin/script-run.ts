// The procedure type script.run.
import { Type } from 'typebox';
import { requireJavaScript, requireProgram } from '../function/script-apply.ts';
import { runOnCreation } from '../procedure/parameter.ts';
import { type ServiceProcedureType, serviceProcedure } from '../procedure/procedure-type.ts';
import { RowanError } from '../util/error.ts';
import type { RunOptions, ScriptRuntime } from './runtime.ts';
import { SCRIPT_CONFIG, type ScriptSource } from './script-config.ts';

/** @param runtime the runtime, once the service has started */
export function scriptRun(runtime: () => ScriptRuntime): ServiceProcedureType {
  return serviceProcedure({
    name: 'script.run',
    summary: 'Runs a program in the sandbox; its value is the result.',
    flags: ['INTERNAL_ENTITY'],
    creationRole: 'admin',
    parameters: Type.Object({
      language: Type.String({ description: 'javascript', default: 'javascript' }),
      scriptConfig: SCRIPT_CONFIG,
      args: Type.Optional(
        Type.Unknown({ description: 'any JSON: the global `args`, instead of scriptConfig.args' }),
      ),
      ...runOnCreation,
    }),
    check({ language, scriptConfig }) {
      requireJavaScript(language);
      requireProgram(scriptConfig, 'script');
    },
    async run(context, { scriptConfig, args }) {
      const progress = context.steps([{ name: 'running', type: 'done' }]);
      progress.next();
      const config = args === undefined ? scriptConfig : { ...scriptConfig, args };
      const { result, logs } = await runWithDetails(runtime(), config, {
        signal: context.signal,
        onLog: ({ c, s }) => context.log(c.replace(/\n$/, ''), s),
      });
      progress.finish();
      return {
        ...(result === undefined ? {} : { result }),
        details: {
          statusCode: 200,
          contentType: 'application/json',
          ...(result === undefined ? {} : { result }),
          ...(logs === undefined ? {} : { logs }),
        },
      };
    },
  });
}

/** The exception and the logs of a script that threw become the details of the failed run. */
async function runWithDetails(runtime: ScriptRuntime, config: ScriptSource, options: RunOptions) {
  try {
    return await runtime.run(config, options);
  } catch (thrown) {
    if (!(thrown instanceof RowanError) || thrown.code !== 'SCRIPT_EXCEPTION') throw thrown;
    const { code, httpCode, message, extra } = thrown;
    throw new RowanError(code, httpCode, message, { statusCode: httpCode, ...extra });
  }
}
