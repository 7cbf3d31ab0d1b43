/** Fields of the dish's answers that this service does not read, for other clients of the fake dish. */

import type { FurtherFields } from '../dish/device-api.ts';

const ALERTS = [
  'motors_stuck',
  'thermal_shutdown',
  'thermal_throttle',
  'unexpected_location',
  'mast_not_near_vertical',
  'slow_ethernet_speeds',
  'roaming',
  'install_pending',
  'is_heating',
  'power_supply_thermal_throttle',
  'is_power_save_idle',
  'moving_while_not_mobile',
  'moving_fast_while_not_aviation',
  'dbf_telem_stale',
  'moving_too_fast_for_policy',
  'low_motor_current',
  'lower_signal_than_predicted',
  'slow_ethernet_speeds_100',
  'obstruction_map_reset',
  'dish_water_detected',
  'router_water_detected',
  'upsu_router_port_slow',
] as const;

/** The attitude. The number is made up, because the number in real firmware is not published. */
export const ATTITUDE_FIELDS: FurtherFields = {
  DishGetStatusResponse: { ned2dish_quaternion: [1999, 'Quaternion'] },
  Quaternion: { q_scalar: [1, 'float'], q_x: [2, 'float'], q_y: [3, 'float'], q_z: [4, 'float'] },
};

export const FURTHER_FIELDS: FurtherFields = {
  DishGetStatusResponse: { alerts: [1005, 'DishAlerts'], gps_stats: [1015, 'DishGpsStats'] },
  // Numbered in this order from 1.
  DishAlerts: Object.fromEntries(ALERTS.map((name, i) => [name, [i + 1, 'bool']])),
  DishGpsStats: {
    gps_valid: [1, 'bool'],
    gps_sats: [2, 'uint32'],
    no_sats_after_ttff: [3, 'bool'],
    inhibit_gps: [4, 'bool'],
  },
  DishObstructionStats: {
    avg_prolonged_obstruction_duration_s: [6, 'float'],
    avg_prolonged_obstruction_interval_s: [7, 'float'],
    avg_prolonged_obstruction_valid: [8, 'bool'],
  },
  DishGetHistoryResponse: { power_in: [1010, 'float[]'] },
};
