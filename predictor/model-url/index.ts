/** `leo-abr/model`: forecasts of a model of `leo-abr train`, which a page loads by its URL. */

import { check, InputError, requireObject, requireText } from '../../abr/errors.ts';
import type { Forecaster, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import { type ModelFile, parseModel } from '../forecast/model-file.ts';
import { type ModelSessionOptions, networkModel, QuantileForecaster } from '../forecast/quantile-forecaster.ts';

export { InputError } from '../../abr/errors.ts';
export type { Forecaster } from '../../abr/forecast.ts';

export interface ModelForecasterOptions extends Pick<ModelSessionOptions, 'handover'> {
  /** URL of the JSON file, relative to the page: of the page's origin, or allowed by CORS. */
  modelUrl: string | URL;
}

export interface ModelForecaster extends Forecaster {
  /** After `failed`, the next session tries again. */
  readonly status: 'loading' | 'ready' | 'failed';
}

/** In characters; models of `leo-abr train` have 4,000. */
const LONGEST_FILE = 1e6;
/** A server that never answers must not keep later sessions from trying again. */
const TIMEOUT_MS = 30_000;

/**
 * A forecaster for the plugin's option `forecasters`, without forecasts until the file is loaded. A failure (a missing
 * file, no answer, a policy, an invalid model) is one fault of the plugin, which then uses the next forecaster.
 * @throws {InputError} (field, expected, received) for invalid options.
 */
export function createModelForecaster(options: ModelForecasterOptions): ModelForecaster {
  const { modelUrl, handover, ...others } = requireObject(options, 'options');
  for (const name of Object.keys(others)) check(false, `options.${name}`, 'modelUrl or handover', others[name]);
  if (!(modelUrl instanceof URL)) requireText(modelUrl, 'options.modelUrl', 'the URL of a model');
  const isSwitch = handover === undefined || typeof handover === 'boolean';
  check(isSwitch, 'options.handover', 'true or false', handover);
  return new UrlForecaster(String(modelUrl), { handover });
}

class UrlForecaster extends QuantileForecaster implements ModelForecaster {
  status: ModelForecaster['status'] = 'loading';
  /** A fault that the next `latest` throws. */
  private _fault: unknown;

  constructor(
    private readonly _url: string,
    options: ModelSessionOptions,
  ) {
    super('model', options);
    void this._load();
  }

  override start(context: SessionContext): void {
    if (this.status === 'failed') void this._load();
    super.start(context);
  }

  override latest(nowSeconds: number): QuantileForecast | undefined {
    const fault = this._fault;
    this._fault = undefined;
    if (fault !== undefined) throw fault;
    return super.latest(nowSeconds);
  }

  private async _load(): Promise<void> {
    const { _url: url } = this;
    this.status = 'loading';
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new Error('no answer for 30 s')), TIMEOUT_MS);
    try {
      const response = await fetch(url, { signal: limit.signal });
      if (!response.ok) throw new Error(`status ${response.status}`);
      const text = await response.text();
      if (text.length > LONGEST_FILE) throw new Error(`${text.length} characters; the limit is ${LONGEST_FILE}`);
      const file: unknown = JSON.parse(text);
      const model = parseModel(file);
      this.name = `model:${(file as ModelFile).name}`;
      this.useModel(networkModel(model, this.name));
      this.status = 'ready';
    } catch (error) {
      this._fault = new InputError(url, 'a model', error);
      this.status = 'failed';
    }
    clearTimeout(timer);
  }
}
