<?php return array (
  'app' => 
  array (
    'name' => 'Shop',
    'debug' => false,
    'rate' => 0.1,
  ),
  'hosts' => 
  array (
    0 => 'alpha',
    1 => 'beta',
  ),
  'password' => 'it\'s a \\ secret',
  'owner' => 
  (object) array(
     'name' => 'ops',
  ),
);
